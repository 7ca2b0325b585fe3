import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, describeEnvtest, freePorts, startControlPlane } from '../envtest/index.ts';
import { waitFor } from '../envtest/waiting.ts';
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

describeEnvtest('the manifests of an installation', () => {
  let directory: string;
  let seed: ControlPlane;
  const programs: Program[] = [];

  const run = (...args: readonly string[]): Program => {
    const program = startProgram(args);
    programs.push(program);
    return program;
  };

  /** The output of `dwd manifests`, as an operator would pipe it into kubectl. */
  const manifests = async (...flags: readonly string[]): Promise<string> => {
    const program = run('manifests', ...flags);
    expect(await program.ended).toBe(0);
    return program.stdout();
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-manifests-'));
    seed = await startControlPlane({ name: 'seed' });
    await seed.kubectl(['create', 'namespace', 'garden']);
  });
  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL');
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(components)('of the %s are accepted, and change nothing when they are applied again', async (component) => {
    const text = await manifests('--component', component);
    const applied = await seed.kubectl(['apply', '-f', '-'], text);
    expect(applied.trim().split('\n')).toHaveLength(9);
    const again = (await seed.kubectl(['apply', '-f', '-'], text)).trim().split('\n');
    // Of a PodDisruptionBudget kubectl sends the selector anew each time (its patch strategy is `replace`), which changes nothing.
    const changed = again.filter((line) => !line.endsWith(' unchanged') && !line.startsWith('poddisruptionbudget'));
    expect([again.length, changed]).toEqual([9, []]);
  });

  it.each([
    ['prober', undefined],
    ['weeder', undefined],
    ['care', undefined],
    ['prober', watermillConfig],
  ] as const)('grant all that the %s asks for, leader election included (%#)', async (component, given) => {
    const namespace = given === undefined ? 'garden' : 'other';
    const configFile = join(directory, `${component}-${namespace}.yaml`);
    if (given !== undefined) {
      await seed.kubectl(['create', 'namespace', namespace]);
      writeFileSync(configFile, given);
      const flags = ['--component', component, '--config-file', configFile, '--namespace', namespace];
      await seed.kubectl(['apply', '-f', '-'], await manifests(...flags));
    } else {
      const data = ['get', 'configmap', `dependency-watchdog-${component}`, '-n', namespace, '-o'];
      writeFileSync(configFile, await seed.kubectl([...data, 'jsonpath={.data.config\\.yaml}']));
    }
    const name = `dependency-watchdog-${component}`;
    const { text } = await seed.serviceAccountKubeconfig({ namespace, name });
    const kubeconfig = join(directory, `${component}-${namespace}.kubeconfig`);
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    const [healthPort] = await freePorts(1);
    const program = run(
      component,
      `--config-file=${configFile}`,
      `--kubeconfig=${kubeconfig}`,
      '--enable-leader-election=true',
      `--leader-election-namespace=${namespace}`,
      '--kube-api-qps=100',
      '--kube-api-burst=100',
      '--metrics-bind-addr=0',
      `--health-bind-addr=127.0.0.1:${String(healthPort)}`,
    );
    await waitFor({ what: 'the rights to be checked and the controller to start', withinMs: 60_000 }, () => {
      const said = (message: string): boolean => program.lines().some(({ msg }) => msg === message);
      return Promise.resolve((said('no right is missing') && said(begun[component])) || undefined);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${program.output()}`);
    });
    const ready = await fetch(`http://127.0.0.1:${String(healthPort)}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, expect.any(String)]);
    expect(program.lines().filter(({ level }) => level === 'error')).toEqual([]);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
