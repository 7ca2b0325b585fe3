import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  createDeployment,
  createMachines,
  createNodes,
  createProtectedShoot,
  seedRules,
  shootRules,
} from '../envtest/shoot.ts';
import { startProgram } from './support/program.ts';

const shoots = ['shoot--test--one', 'shoot--test--two'];
const nodes = ['node-a', 'node-b'];
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

interface Report {
  readonly checks: readonly { readonly findings: readonly { readonly code: string }[] }[];
}

describeEnvtest('dwd preflight, on a real API server', () => {
  let directory: string;
  let seed: ControlPlane;
  let kubeconfig: string;
  const file = (text: string): string => {
    const path = join(directory, 'prober.yaml');
    writeFileSync(path, text);
    return path;
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-preflight-'));
    seed = await startControlPlane({ name: 'seed', isAudited: true });
    const { text } = await seed.kubeconfigFor({ user: 'in-shoot', rules: shootRules });
    await createNodes(seed.client, nodes);
    for (const namespace of shoots) {
      await createProtectedShoot(seed, { namespace, kubeconfig: text });
      await createMachines(seed.client, { namespace, nodes });
      await createDeployment(seed.client, namespace, { name: kcm, replicas: 1 });
      await seed.client.patch(`/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`, {
        spec: {
          template: {
            spec: {
              containers: [{ name: 'main', image: `${kcm}:v1.33.1`, args: ['--node-monitor-grace-period=50s'] }],
            },
          },
        },
      });
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
  it('finds no problem in a healthy seed, in 80 columns and without colour, and writes nothing', async () => {
    const { code, stdout, stderr } = await preflight(config);
    const named = expect.stringMatching(/^cluster: https:[^\n]*\n$/) as string;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: named });
    expect(stdout).toContain('2 of 3 shoots probed; 1 not: hibernation is enabled');
    expect(stdout).toContain('as configured in 2 of 2 shoots');
    expect(stdout).toContain('nodes that count: 2 or more in 2 of 2 shoots');
    expect(stdout).not.toMatch(/\u001b|FAILED|WARNING|UNKNOWN/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const writes = seed
      .requests()
      .filter(({ user, verb }) => ['operator', 'in-shoot'].includes(user) && !['get', 'list'].includes(verb))
      .filter(({ uri }) => !/\/(?:self)?subjectaccessreviews$/.test(uri));
    expect(writes).toEqual([]);
  });

  it('reports a missing kind and missing rights', async () => {
    const dependent = '  - ref: {apiVersion: example.com/v1, kind: Nothing, name: nothing}\n';
    const text = `${config}${dependent}    scaleUp: {level: 1}\n    scaleDown: {level: 0}\n`;
    const { code, stdout } = await preflight(text, '-o', 'json', '--rights-of=garden/nobody');
    const { checks } = JSON.parse(stdout) as Report;
    const codes = checks.flatMap(({ findings }) => findings.map((found) => found.code));
    expect({ code, codes }).toEqual({ code: 1, codes: ['kind-not-served', 'right-missing'] });
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
    writeFileSync(gone, readFileSync(kubeconfig, 'utf8').replace(seed.url, 'https://127.0.0.1:1'));
    const { code, stdout } = await preflight(config, '--kubeconfig', gone);
    expect(code, stdout).toBe(2);
    expect(stdout).toContain('UNKNOWN seed-unreachable');
  });
});
