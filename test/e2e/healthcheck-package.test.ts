import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ControlPlane,
  type CustomKind,
  describeEnvtest,
  gardenerKinds,
  type ManagedProcess,
  startControlPlane,
  startProcess,
  untilReady,
} from '../envtest/index.ts';

// The entry point `dependency-watchdog/healthcheck` as it is installed: the example is its user.

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = readFileSync(`${root}examples/extension-controller.ts`, 'utf8');

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'healthcheck-'));
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  symlinkSync(root, join(project, 'node_modules/dependency-watchdog'));
  symlinkSync(`${root}node_modules/@types/node`, join(project, 'node_modules/@types/node'));
  symlinkSync(`${root}node_modules/undici-types`, join(project, 'node_modules/undici-types'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(project, 'controller.ts'), example.replace('syncPeriodMs: 30_000', 'syncPeriodMs: 200'));
});
afterAll(() => rmSync(project, { recursive: true }));

it('is explained by an example that fits on a page', () => {
  expect(example.split('\n').length).toBeLessThanOrEqual(40);
  expect(readFileSync(`${root}docs/health-checks.md`, 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``);
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

  it.each([
    ['typescript', nodenext],
    ['typescript', bundler],
    ['typescript-7', nodenext],
    ['typescript-7', bundler],
  ])('fit the example, by the compiler of %s (%#)', (compiler, options) => {
    const configuration = { compilerOptions: options, files: ['controller.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(configuration));
    const check = () =>
      execFileSync(process.execPath, [`${root}node_modules/${compiler}/bin/tsc`, '-p', project], { encoding: 'utf8' });
    expect(outputOf(check)).toBe('');
  });

  it('refuse a check that returns what is none', () => {
    const broken = example.replace(/check: deploymentCheck\(.*\)/, "check: async () => ({ status: 'Fine' })");
    expect(broken).not.toBe(example);
    writeFileSync(join(project, 'broken.ts'), broken);
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: nodenext, files: ['broken.ts'] }));
    const check = () =>
      execFileSync(process.execPath, [`${root}node_modules/typescript-7/bin/tsc`, '-p', project], { encoding: 'utf8' });
    expect(outputOf(check)).toContain("is not assignable to type 'CheckResult'");
  });
});

/** What a command wrote, whether it succeeded or not. */
const outputOf = (run: () => string): string => {
  try {
    return run();
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
};

const controlPlane: CustomKind = {
  group: 'extensions.gardener.cloud',
  version: 'v1alpha1',
  kind: 'ControlPlane',
  plural: 'controlplanes',
  scope: 'Namespaced',
  status: true,
};

/** Rights of the example as the documentation demands them. */
const neededRules = [
  { apiGroups: ['extensions.gardener.cloud'], resources: ['controlplanes'], verbs: ['list', 'get'] },
  { apiGroups: ['extensions.gardener.cloud'], resources: ['controlplanes/status'], verbs: ['patch'] },
  { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs: ['get'] },
];

interface Stored {
  readonly metadata: { readonly resourceVersion: string };
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, unknown>>[] };
}

describeEnvtest('the example against a real API server', () => {
  const namespace = 'shoot--dev--one';
  const extensions = '/apis/extensions.gardener.cloud/v1alpha1';
  const controlPlanes = `${extensions}/namespaces/${namespace}/controlplanes`;
  const resources = `/apis/resources.gardener.cloud/v1alpha1/namespaces/${namespace}/managedresources`;
  let plane: ControlPlane;
  let controller: ManagedProcess;

  const applied = (healthy: string) => ({
    status: {
      observedGeneration: 1,
      conditions: [
        { type: 'ResourcesApplied', status: 'True' },
        { type: 'ResourcesHealthy', status: healthy, reason: 'Quota', message: 'no quota left' },
      ],
    },
  });
  const conditions = async (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await plane.client.get<Stored>(`${controlPlanes}/one`)).status?.conditions ?? [];
  const found = (type: string, fields: object) => async () =>
    (await conditions()).some((one) => one.type === type && Object.entries(fields).every(([k, v]) => one[k] === v));
  const eventually = (probe: () => Promise<boolean>) => untilReady(controller, 30_000, probe);

  beforeAll(async () => {
    plane = await startControlPlane({ name: 'healthcheck', kinds: [...gardenerKinds, controlPlane] });
    const { client, directory } = plane;
    await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
    const type = (kind: string) => ({ apiVersion: 'extensions.gardener.cloud/v1alpha1', kind });
    await client.create(`${extensions}/clusters`, { ...type('Cluster'), metadata: { name: namespace }, spec: {} });
    await client.create(resources, {
      apiVersion: 'resources.gardener.cloud/v1alpha1',
      kind: 'ManagedResource',
      metadata: { name: 'extension-controlplane-shoot' },
      spec: {},
    });
    await client.patch(`${resources}/extension-controlplane-shoot/status`, applied('True'));
    await client.create(controlPlanes, { ...type('ControlPlane'), metadata: { name: 'one' }, spec: { type: 'local' } });
    await client.patch(`${controlPlanes}/one/status`, {
      status: { conditions: [{ type: 'Theirs', extra: { deep: [1] } }] },
    });
    const { file } = await plane.kubeconfigFor({ user: 'extension', rules: neededRules });
    const set = `process.env.KUBECONFIG = '${file}'; await import('${join(project, 'controller.ts')}');`;
    controller = await startProcess({
      name: 'controller',
      command: process.execPath,
      args: ['--input-type=module', '--eval', set],
      logFile: join(directory, 'controller.log'),
      directory: project,
    });
  }, 120_000);

  afterAll(async () => {
    await controller.stop();
    await plane.stop();
  });

  it("writes the conditions behind others'", async () => {
    await eventually(found('SystemComponentsHealthy', { status: 'True' }));
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
  });

  it('writes only what differs', async () => {
    const before = (await plane.client.get<Stored>(`${controlPlanes}/one`)).metadata.resourceVersion;
    // A change that is seen only by a further run.
    await plane.client.patch(`${resources}/extension-controlplane-shoot/status`, applied('False'));
    await eventually(found('SystemComponentsHealthy', { status: 'False' }));
    const { metadata, status } = await plane.client.get<Stored>(`${controlPlanes}/one`);
    expect(metadata.resourceVersion).not.toBe(before);
    expect(status?.conditions?.at(-1)).toMatchObject({
      message:
        'managed resource "extension-controlplane-shoot" in namespace "shoot--dev--one" is unhealthy: condition ResourcesHealthy of managed resource shoot--dev--one/extension-controlplane-shoot is False: no quota left.',
      codes: ['ERR_INFRA_QUOTA_EXCEEDED'],
    });
    expect(logged('condition written')).toHaveLength(3);
  });

  it('reads again where somebody else writes as well', async () => {
    for (let round = 1; round <= 20; round += 1) {
      const [theirs, ...own] = await conditions();
      await plane.client.patch(`${controlPlanes}/one/status`, {
        status: { conditions: [{ ...theirs, round }, ...own] },
      });
      const healthy = round % 2 === 0 ? 'False' : 'True';
      await plane.client.patch(`${resources}/extension-controlplane-shoot/status`, applied(healthy));
    }
    // A run of round 19 may still be about to write what it found.
    await eventually(async () => {
      const [theirs, , last] = await conditions();
      return theirs?.round === 20 && last?.status === 'False';
    });
    expect(logged('health checks could not be run')).toEqual([]);
  });

  it('ends when it is told to', async () => {
    await controller.stop();
    expect(controller.hasEnded()).toBe(true);
  });

  const logged = (message: string): readonly string[] =>
    readFileSync(join(plane.directory, 'controller.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`));
});
