import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { createDeployment, createProtectedShoot, seedRules, shootRules } from '../envtest/shoot.ts';
import { auditInto } from './support/audit.ts';
import { startProgram } from './support/program.ts';

const shoots = ['shoot--test--one', 'shoot--test--two'];
const kcm = 'kube-controller-manager';

const config = `kubeConfigSecretName: shoot-access-prober
kcmNodeMonitorGraceDuration: 50s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${kcm}}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

const reading = seedRules.map((rule) => ({ ...rule, verbs: ['get', 'list'] }));
const reviewing = { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] };

interface Found {
  readonly code: string;
  readonly shoot?: string;
}
interface Report {
  readonly checks: readonly { readonly status: string; readonly findings: readonly Found[] }[];
}

describeEnvtest('dwd preflight, on a real API server', () => {
  let directory: string;
  let seed: ControlPlane;
  let audit: ReturnType<typeof auditInto>;
  let kubeconfig: string;
  const file = (text: string): string => {
    const path = join(directory, 'prober.yaml');
    writeFileSync(path, text);
    return path;
  };

  const grace = (namespace: string, args: readonly string[]): Promise<unknown> =>
    seed.client.patch(`/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`, {
      spec: { template: { spec: { containers: [{ name: 'main', image: `${kcm}:v1.33.1`, args }] } } },
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-preflight-'));
    audit = auditInto(directory);
    seed = await startControlPlane({ name: 'seed', apiServerFlags: audit.flags });
    const { text } = await seed.kubeconfigFor({ user: 'in-shoot', rules: shootRules });
    for (const namespace of shoots) {
      await createProtectedShoot(seed, { namespace, kubeconfig: text });
      await createDeployment(seed.client, namespace, { name: kcm, replicas: 1 });
      await grace(namespace, ['--node-monitor-grace-period=50s']);
    }
    await createProtectedShoot(seed, {
      namespace: 'shoot--test--asleep',
      kubeconfig: 'nothing',
      shoot: { hibernation: { enabled: true } },
    });
    await seed.serviceAccountKubeconfig({ namespace: 'garden', name: 'dwd-prober', rules: seedRules });
    kubeconfig = (await seed.kubeconfigFor({ user: 'operator', rules: [...reading, reviewing] })).file;
  });

  afterAll(async () => {
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const preflight = async (text: string, ...flags: readonly string[]) => {
    const program = startProgram(['preflight', '--config-file', file(text), '--kubeconfig', kubeconfig, ...flags]);
    const code = await program.ended;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  };
  const found = async (text: string, ...flags: readonly string[]) => {
    const { code, stdout, stderr } = await preflight(text, '-o', 'json', ...flags);
    expect(stderr).toBe('');
    const { checks } = JSON.parse(stdout) as Report;
    return {
      code,
      findings: checks.flatMap(({ findings }) => findings.map(({ code: one, shoot = '-' }) => `${one} ${shoot}`)),
    };
  };

  it('finds no problem in a healthy seed, in 80 columns and without colour, and writes nothing', async () => {
    const { code, stdout, stderr } = await preflight(config);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('2 of 3 shoots probed; 1 not: hibernation is enabled');
    expect(stdout).toContain('as configured in 2 of 2 shoots');
    expect(stdout).not.toMatch(/\u001b|FAILED|WARNING|UNKNOWN/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const writes = audit
      .requests()
      .filter(({ user, verb }) => ['operator', 'in-shoot'].includes(user) && !['get', 'list'].includes(verb))
      .filter(({ uri }) => !/\/(?:self)?subjectaccessreviews$/.test(uri));
    expect(writes).toEqual([]);
  });

  it('names a shoot whose KCM has a shorter or another default grace period, and can check a single shoot', async () => {
    await grace('shoot--test--two', ['--node-monitor-grace-period', '20s']);
    expect(await found(config)).toEqual({ code: 1, findings: ['grace-shorter shoot--test--two'] });
    expect(await found(config, '--shoot=shoot--test--one')).toEqual({ code: 0, findings: [] });
    await grace('shoot--test--two', []);
    const forty = config.replace('50s', '40s');
    expect(await found(forty)).toEqual({
      code: 1,
      findings: ['grace-longer shoot--test--one', 'grace-longer shoot--test--two'],
    });
    await grace('shoot--test--two', ['--node-monitor-grace-period=50s']);
  });

  const dependent = (ref: string, optional = false): string =>
    `${config}  - ref: {${ref}}\n    optional: ${String(optional)}\n    scaleUp: {level: 1}\n    scaleDown: {level: 0}\n`;
  const both = (code: string): readonly string[] => shoots.map((shoot) => `${code} ${shoot}`);

  it.each<[string, () => string, readonly string[]]>([
    ['a Secret', () => config.replace('access-prober', 'access-other'), both('secret-missing')],
    ['a dependent', () => dependent('apiVersion: apps/v1, kind: Deployment, name: absent'), both('dependent-missing')],
    ['nothing optional', () => dependent('apiVersion: apps/v1, kind: Deployment, name: absent', true), []],
  ])('reports as missing: %s', async (_, text, findings) => {
    expect(await found(text(), '--rights-of=none')).toEqual({ code: findings.length === 0 ? 0 : 1, findings });
  });

  it('checks the clusters of the Secret source, and reads no Cluster or Machine', async () => {
    const before = audit.requests().length;
    const { findings } = await found(`${config}clusterSource: {kind: secret}\n`, '--rights-of=none');
    const asked = audit.requests().slice(before);
    expect(asked.filter(({ uri }) => /extensions\.gardener|machine\.sapcloud/.test(uri))).toEqual([]);
    // By its Cluster, it is hibernated. With this source, only its Secret counts.
    expect(findings).toEqual(expect.arrayContaining(['secret-unusable shoot--test--asleep']));
    expect(findings.filter((finding) => !finding.endsWith(' shoot--test--asleep'))).toEqual([]);
  });

  it('reports a missing kind and missing rights', async () => {
    const unserved = dependent('apiVersion: example.com/v1, kind: Nothing, name: nothing');
    expect(await found(unserved)).toEqual({ code: 1, findings: ['kind-not-served -'] });
    const { code, findings } = await found(config, '--rights-of=garden/nobody');
    expect({ code, findings }).toEqual({ code: 1, findings: ['right-missing -'] });
  });

  it('names the rights that it lacks itself, and then has no result', async () => {
    const rules = [...reading.filter(({ resources }) => !resources.includes('secrets')), reviewing];
    const { file: narrow } = await seed.kubeconfigFor({ user: 'narrow', rules });
    const { code, stdout } = await preflight(config, '--kubeconfig', narrow);
    expect(code, stdout).toBe(2);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'you may not list resource "secrets" "shoot-access-prober" in API group ""',
    );
  });

  it('has no result for an unreachable seed', async () => {
    const gone = join(directory, 'gone.yaml');
    writeFileSync(
      gone,
      'apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nclusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]\nusers: [{name: x, user: {token: t}}]\n',
    );
    const { code, stdout } = await preflight(config, '--kubeconfig', gone);
    expect(code, stdout).toBe(2);
    expect(stdout).toContain('UNKNOWN seed-unreachable');
  });
});
