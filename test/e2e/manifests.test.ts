import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { customKind } from '../../simulator/apiserver/kinds.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { applyCustomKinds } from '../envtest/crds.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { waitFor } from '../envtest/waiting.ts';
import { manifestVariants } from './support/manifest-variants.ts';
import { type Program, startProgram } from './support/program.ts';

const components = ['prober', 'weeder', 'care'] as const;
const begun = { prober: 'probing begins', weeder: 'watching over services', care: 'taking care of shoots' } as const;

const watermillConfig = `kubeConfigSecretName: shoot-access-prober
externalProbe: {kubeConfigSecretName: shoot-access-outside}
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;

const serviceMonitors = customKind({
  group: 'monitoring.coreos.com',
  version: 'v1',
  kind: 'ServiceMonitor',
  resource: 'servicemonitors',
});

interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

const deployments = '/apis/apps/v1/namespaces/garden/deployments';
const podsStrictly = '/api/v1/namespaces/garden/pods?fieldValidation=Strict';

describeEnvtest('the manifests of an installation', () => {
  let directory: string;
  let seed: ControlPlane;
  const programs: Program[] = [];

  const run = (...args: readonly string[]): Program => {
    const program = startProgram(args);
    programs.push(program);
    return program;
  };

  /** Returns the output of `dwd manifests`, as an operator would pipe it into kubectl. */
  const manifests = async (...flags: readonly string[]): Promise<string> => {
    const program = run('manifests', ...flags);
    expect(await program.ended).toBe(0);
    return program.stdout();
  };

  const apply = async (text: string): Promise<readonly string[]> =>
    (await seed.kubectl(['apply', '--validate=strict', '-f', '-'], text)).trim().split('\n');

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-manifests-'));
    seed = await startControlPlane({ name: 'seed' });
    await seed.kubectl(['create', 'namespace', 'garden']);
    // Pods that this level admits would not be refused by the kubelet.
    await seed.kubectl(['label', 'namespace', 'garden', 'pod-security.kubernetes.io/enforce=restricted']);
    await seed.kubectl(['create', 'priorityclass', 'gardener-system-800', '--value=999998800']);
    await applyCustomKinds(seed.client, [serviceMonitors]);
  });
  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL');
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(manifestVariants)(
    'are accepted with %j, and change nothing when they are applied again',
    async (flags, count) => {
      const text = await manifests('--component', [...components, 'operator', 'policy'].join(','), ...flags);
      const applied = await apply(text);
      expect(applied).toHaveLength(count * components.length + 6);
      const again = await apply(text);
      // For these, kubectl sends lists or selectors every time (their patch strategy is `replace`), which changes nothing.
      const sentAnew = /^(?:poddisruptionbudget|(?:mutating|validating)admissionpolicy)\./;
      const changed = again.filter((line) => !line.endsWith(' unchanged') && !sentAnew.test(line));
      const generations = [
        'get',
        'validatingadmissionpolicies,mutatingadmissionpolicies',
        '-o',
        'jsonpath={.items[*].metadata.generation}',
      ];
      expect(await seed.kubectl(generations)).toMatch(/^1( 1)*$/);
      expect([again.length, changed]).toEqual([applied.length, []]);
    },
  );

  it('have pods that a namespace with pod security level restricted admits', async () => {
    const found = await seed.client.list<Deployment>(deployments);
    // Both profiles share their names; the variant with the long prefix has its own.
    expect(found).toHaveLength(2 * components.length);
    for (const { metadata, spec } of found) {
      const pod = { apiVersion: 'v1', kind: 'Pod', ...spec.template };
      const generateName = `${metadata.name}-`;
      const created = await seed.client.create(podsStrictly, { ...pod, metadata: { ...pod.metadata, generateName } });
      expect(created.metadata.name).toContain(metadata.name.slice(0, 58));
      const [container] = pod.spec.containers;
      const loose = { ...pod.spec, containers: [{ ...container, securityContext: {} }] };
      const refused = seed.client.create(podsStrictly, { ...pod, metadata: { generateName }, spec: loose });
      await expect(refused).rejects.toThrow(/403 .*violates PodSecurity "restricted:latest"/);
    }
  });

  it.each([
    ['prober', undefined],
    ['weeder', undefined],
    ['care', undefined],
    ['prober', watermillConfig],
  ] as const)('grant all rights that the %s needs, including leader election (%#)', async (component, given) => {
    const namespace = given === undefined ? 'garden' : 'other';
    const configFile = join(directory, `${component}-${namespace}.yaml`);
    const flags = ['--component', component, '--namespace', namespace];
    if (given !== undefined) {
      await seed.kubectl(['create', 'namespace', namespace]);
      writeFileSync(configFile, given);
      flags.push('--config-file', configFile);
    }
    await apply(await manifests(...flags));
    const name = `dwd-${component}`;
    const read = (kind: string, path: string): Promise<string> =>
      seed.kubectl(['get', kind, '-n', namespace, '-l', `app=${name}`, '-o', `jsonpath={.items[0]${path}}`]);
    writeFileSync(configFile, await read('configmap', '.data.config\\.yaml'));
    const args = JSON.parse(await read('deployment', '.spec.template.spec.containers[0].args')) as readonly string[];
    expect(args[1]).toBe('--config-file=/etc/dependency-watchdog/config.yaml');
    const { text } = await seed.serviceAccountKubeconfig({ namespace, name });
    const kubeconfig = join(directory, `${component}-${namespace}.kubeconfig`);
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    const [healthPort] = await freePorts(1);
    const program = run(
      // A later flag overrides these.
      ...args,
      `--config-file=${configFile}`,
      `--kubeconfig=${kubeconfig}`,
      '--kube-api-qps=100',
      '--kube-api-burst=100',
      '--metrics-bind-addr=0',
      ...(component === 'prober' ? ['--page-bind-addr=127.0.0.1:0'] : []),
      `--health-bind-addr=127.0.0.1:${String(healthPort)}`,
    );
    const said = (message: string): boolean => program.lines().some(({ msg }) => msg === message);
    await waitFor(
      { what: 'the rights to be checked and the controller to start', withinMs: 60_000, detail: program.output },
      () => said('no right is missing') && said(begun[component]),
    );
    const ready = await fetch(`http://127.0.0.1:${String(healthPort)}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, expect.any(String)]);
    expect(program.lines().filter(({ level }) => level === 'error')).toEqual([]);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
