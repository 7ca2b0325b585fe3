import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { gardenerKinds } from '../envtest/crds.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts, startProcess, untilReady } from '../envtest/processes.ts';

// The packed and installed entry point `dependency-watchdog/healthcheck`, used by the example.

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = readFileSync(`${root}examples/extension-controller.ts`, 'utf8');

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'healthcheck-'));
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  install(join(project, 'node_modules/dependency-watchdog'));
  symlinkSync(`${root}node_modules/@types/node`, join(project, 'node_modules/@types/node'));
  symlinkSync(`${root}node_modules/undici-types`, join(project, 'node_modules/undici-types'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(project, 'controller.ts'), example);
});

/** Installs the package as npm would, but without its dependencies, which the entry point does not need. */
const install = (directory: string): void => {
  mkdirSync(directory);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as [{ filename: string }];
  execFileSync('tar', ['-xzf', join(project, packed.filename), '-C', directory, '--strip-components=1']);
};

/** Writes the example with other settings of its ControlPlanes and its process. Returns the path. */
const variant = (file: string, ofController: string, ofProcess: string): string => {
  const changed = example
    .replace("  type: 'local',\n", `  type: 'local',\n  ${ofController},\n`)
    .replace("    name: 'extension-local',\n", `    name: 'extension-local',\n    ${ofProcess},\n`);
  expect(changed.length).toBe(example.length + ofController.length + ofProcess.length + 4 + 6);
  writeFileSync(join(project, file), changed);
  return join(project, file);
};
afterAll(() => rmSync(project, { recursive: true }));

it('is explained by an example that fits on a page', () => {
  expect(example.split('\n').length).toBeLessThanOrEqual(45);
});

describe('the declarations', () => {
  const compilerOptions = {
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: ['node'],
    noEmit: true,
  };
  const nodenext = { ...compilerOptions, module: 'nodenext', moduleResolution: 'nodenext' };
  const bundler = { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler' };

  /** Compiles one file of the project. Returns what the compiler prints. */
  const compile = (file: string, options: object = nodenext, compiler = 'typescript-7'): string => {
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }));
    const tsc = `${root}node_modules/${compiler}/bin/tsc`;
    return spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' }).stdout;
  };

  it.each([
    ['typescript', bundler],
    ['typescript-7', nodenext],
  ])('work with the example, compiled by %s', (compiler, options) => {
    expect(compile('controller.ts', options, compiler)).toBe('');
  });

  it('work with the other examples of the documentation', () => {
    const [check = '', body = ''] = Array.from(
      readFileSync(`${root}docs/dev/health-checks.md`, 'utf8').matchAll(/```ts\n([^`]*(?:`[^`]+`[^`]*)*?)```/g),
      ([, code = '']) => code,
    );
    const names = ['getDeploymentHealth', 'type HealthCheck'];
    const source = `
      import { ${names.join()} } from 'dependency-watchdog/healthcheck';
      export const checks: HealthCheck[] = [ ${check} { conditionType: 'X', ${body} } ];`;
    expect([check, body]).not.toContain('');
    writeFileSync(join(project, 'shown.ts'), source);
    expect(compile('shown.ts')).toBe('');
  });

  it('refuse a check with an invalid result', () => {
    const broken = example.replace(/check: deploymentCheck\(.*\)/, "check: async () => ({ status: 'Fine' })");
    expect(broken).not.toBe(example);
    writeFileSync(join(project, 'broken.ts'), broken);
    expect(compile('broken.ts')).toContain("is not assignable to type 'CheckResult'");
  });
});

/** Rights of the example, as the documentation requires them. */
const neededRules = [
  { apiGroups: ['extensions.gardener.cloud'], resources: ['controlplanes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['extensions.gardener.cloud'], resources: ['controlplanes/status'], verbs: ['patch'] },
  { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch'],
    namespace: 'extension-local',
  },
];

interface Stored {
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, unknown>>[] };
}

interface StoredLease {
  readonly spec: Readonly<Record<string, unknown>> & { readonly renewTime: string };
}

const namespace = 'shoot--dev--one';
const extensions = '/apis/extensions.gardener.cloud/v1alpha1';
const controlPlanes = `${extensions}/namespaces/${namespace}/controlplanes`;
const resources = `/apis/resources.gardener.cloud/v1alpha1/namespaces/${namespace}/managedresources`;

/** A shoot with a ControlPlane, on which another writer and a former version of the example have left conditions. */
const createShoot = async ({ client }: ControlPlane): Promise<void> => {
  for (const name of [namespace, 'extension-local']) {
    await client.create('/api/v1/namespaces', { metadata: { name } });
  }
  const type = (kind: string) => ({ apiVersion: 'extensions.gardener.cloud/v1alpha1', kind });
  await client.create(`${extensions}/clusters`, { ...type('Cluster'), metadata: { name: namespace }, spec: {} });
  const resource = { apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' };
  const name = 'extension-controlplane-shoot';
  await client.create(resources, { ...resource, metadata: { name }, spec: {} });
  const applied = ['ResourcesApplied', 'ResourcesHealthy'].map((one) => ({ type: one, status: 'True' }));
  await client.patch(`${resources}/${name}/status`, { status: { observedGeneration: 1, conditions: applied } });
  await client.create(controlPlanes, { ...type('ControlPlane'), metadata: { name: 'one' }, spec: { type: 'local' } });
  await client.patch(`${controlPlanes}/one/status`, {
    status: { conditions: [{ type: 'ControlPlaneReady' }, { type: 'Theirs', extra: { deep: [1] } }] },
  });
};

describeEnvtest('the example against a real API server', () => {
  it('writes its conditions after those of others, is elected, ready and has metrics, and releases its Lease', async ({
    onTestFinished,
  }) => {
    const plane = await startControlPlane({
      name: 'healthcheck',
      kinds: [...gardenerKinds, extensionKinds.get('ControlPlane')!],
    });
    onTestFinished(() => plane.stop());
    await createShoot(plane);
    const { file: seedFile } = await plane.kubeconfigFor({ user: 'extension', rules: neededRules });
    const [metricsPort = 0, healthPort = 0] = await freePorts(2);
    const [metrics, health] = [metricsPort, healthPort].map((port) => `127.0.0.1:${String(port)}`);
    const file = variant(
      'fast.ts',
      'syncPeriodMs: 1_000',
      `qps: 1_000, burst: 1_000, metricsBindAddress: '${metrics}', healthBindAddress: '${health}', heartbeatIntervalMs: 200`,
    );
    const controller = await startProcess({
      name: 'controller',
      command: process.execPath,
      args: ['--input-type=module', '--eval', `process.env.KUBECONFIG = '${seedFile}'; await import('${file}');`],
      logFile: join(plane.directory, 'controller.log'),
      directory: project,
    });
    onTestFinished(() => controller.stop());
    const eventually = (probe: () => Promise<boolean>) => untilReady(controller, probe);
    const conditions = async () => (await plane.client.get<Stored>(`${controlPlanes}/one`)).status?.conditions ?? [];
    const lease = async (name: string) =>
      (await plane.client.get<StoredLease>(`/apis/coordination.k8s.io/v1/namespaces/extension-local/leases/${name}`))
        .spec;
    const answer = async (path: string): Promise<string> => (await fetch(`http://${path}`)).text();

    await eventually(async () =>
      (await conditions()).some(({ type, status }) => type === 'SystemComponentsHealthy' && status === 'True'),
    );
    expect(await conditions()).toMatchObject([
      { type: 'Theirs', extra: { deep: [1] } },
      {
        type: 'ControlPlaneHealthy',
        status: 'False',
        reason: 'HealthCheckUnsuccessful',
        message: 'deployment "cloud-controller-manager" in namespace "shoot--dev--one" not found.',
      },
      { type: 'SystemComponentsHealthy', status: 'True', message: 'All health checks successful' },
    ]);

    const heartbeat = await lease('gardener-extension-heartbeat');
    expect(heartbeat).toMatchObject({ holderIdentity: 'extension-local', leaseDurationSeconds: 1 });
    await eventually(async () => (await lease('gardener-extension-heartbeat')).renewTime !== heartbeat.renewTime);
    expect((await lease('extension-local-leader-election')).holderIdentity).not.toBe('');
    const ready = '[+] clusters: ok\n[+] health checks of ControlPlane local: ok\n[+] heartbeat: ok\nready\n';
    await eventually(async () => (await answer(`${health}/readyz`)) === ready);
    const series = `dwd_healthcheck_condition{kind="ControlPlane",namespace="${namespace}",name="one"`;
    expect(await answer(`${metrics}/metrics`)).toContain(`${series},condition="ControlPlaneHealthy",status="False"} 1`);

    await controller.stop();
    expect(controller.hasEnded()).toBe(true);
    expect((await lease('extension-local-leader-election')).holderIdentity).toBe('');
  });
});
