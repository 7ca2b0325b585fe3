import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { gardenerKinds } from '../envtest/crds.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts, startProcess, untilReady } from '../envtest/processes.ts';

// The packed npm package, installed without a registry in an empty folder, and its entry point `dependency-watchdog/healthcheck`, used by the example.

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = readFileSync(`${root}examples/extension-controller.ts`, 'utf8');
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { readonly version: string };

let project: string;
let packed: ReadonlySet<string>;
const installed = (path: string): string => join(project, 'node_modules/dependency-watchdog', path);
const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: project, encoding: 'utf8' });

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'dwd-package-'));
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const [tarball] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  packed = new Set(tarball.files.map(({ path }) => path));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${tarball.filename}`);
  writeFileSync(join(project, 'controller.ts'), example);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Returns the packages as `NAME VERSION`, in the order of the file. */
const namesIn = (licences: string): readonly string[] =>
  licences
    .split(`\n${'-'.repeat(80)}\n`)
    .slice(1)
    .map((entry) => /^\n(\S+ \S+) \(/.exec(entry)?.[1] ?? entry);

describe('the package', () => {
  it('has the files that the README links to, and neither sources nor source maps', () => {
    const links: string[] = [];
    void marked.walkTokens(marked.lexer(readFileSync(`${root}README.md`, 'utf8')), (token) => {
      if (token.type === 'link' && !/^(?:https?:|#)/.test(token.href as string)) links.push(token.href as string);
    });
    const missing = links.map((link) => link.replace(/#.*/, '')).filter((path) => !existsSync(installed(path)));
    expect([links.length > 5, missing]).toEqual([true, []]);
    expect(
      [...packed].filter((path) => path.endsWith('.map') || /^(?:src|test|tools|node_modules)\//.test(path)),
    ).toEqual([]);
  });

  it('has no dependencies', () => {
    const tree = JSON.parse(run('npm', 'ls', '--all', '--json')) as { readonly dependencies: Record<string, object> };
    expect(Object.keys(tree.dependencies)).toEqual(['dependency-watchdog']);
    expect(tree.dependencies['dependency-watchdog']).not.toHaveProperty('dependencies');
    expect(tree).not.toHaveProperty('problems');
  });

  it('runs', () => {
    expect(run('npx', '--offline', 'dwd', 'version')).toMatch(`dwd ${version}, commit `);
    expect(
      run('npx', '--offline', 'dwd', 'validate', '--component=prober', installed('examples/prober-config.yaml')),
    ).toBe('');
  });
});

/** Writes the example with other settings of its ControlPlanes and its process. Returns the path. */
const variant = (file: string, ofController: string, ofProcess: string): string => {
  const changed = example
    .replace("  type: 'local',\n", `  type: 'local',\n  ${ofController},\n`)
    .replace("    name: 'extension-local',\n", `    name: 'extension-local',\n    ${ofProcess},\n`);
  expect(changed.length).toBe(example.length + ofController.length + ofProcess.length + 4 + 6);
  writeFileSync(join(project, file), changed);
  return join(project, file);
};

it('is explained by an example that fits on a page', () => {
  expect(example.split('\n').length).toBeLessThanOrEqual(45);
});

describe('the declarations of the library', () => {
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

  beforeAll(() => {
    mkdirSync(join(project, 'node_modules/@types'));
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(`${root}node_modules/${name}`, join(project, 'node_modules', name));
    }
  });

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

    const ready = '[+] clusters: ok\n[+] health checks of ControlPlane local: ok\n[+] heartbeat: ok\nready\n';
    await eventually(async () => (await answer(`${health}/readyz`)) === ready);
    const heartbeat = await lease('gardener-extension-heartbeat');
    expect(heartbeat).toMatchObject({ holderIdentity: 'extension-local', leaseDurationSeconds: 1 });
    await eventually(async () => (await lease('gardener-extension-heartbeat')).renewTime !== heartbeat.renewTime);
    expect((await lease('extension-local-leader-election')).holderIdentity).not.toBe('');
    const series = `dwd_healthcheck_condition{kind="ControlPlane",namespace="${namespace}",name="one"`;
    expect(await answer(`${metrics}/metrics`)).toContain(`${series},condition="ControlPlaneHealthy",status="False"} 1`);

    await controller.stop();
    expect(controller.hasEnded()).toBe(true);
    expect((await lease('extension-local-leader-election')).holderIdentity).toBe('');
  });
});

interface Output {
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
  readonly imports: readonly { readonly path: string; readonly external?: boolean }[];
}

describe('the bundled code', () => {
  const metafile = JSON.parse(readFileSync(`${root}.cache/metafile.json`, 'utf8')) as {
    readonly inputs: Readonly<Record<string, unknown>>;
    readonly outputs: Readonly<Record<string, Output>>;
  };
  const paths = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const names = new Set(paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));

  /** Returns the sources in the file and in all that it loads. */
  const sourcesOf = (file: string): ReadonlySet<string> => {
    const loaded = new Set([file]);
    for (const each of loaded) {
      for (const { path, external } of metafile.outputs[each]?.imports ?? []) if (external !== true) loaded.add(path);
    }
    return new Set(Array.from(loaded).flatMap((each) => Object.keys(metafile.outputs[each]?.inputs ?? {})));
  };

  it('has every source once', () => {
    const programs = Object.entries(metafile.outputs).filter(([file]) => !file.startsWith('dist/page/'));
    const sources = programs.flatMap(([, { inputs }]) =>
      Object.keys(inputs).filter((path) => inputs[path]?.bytesInOutput !== 0),
    );
    expect(sources.filter((path, index) => sources.indexOf(path) !== index)).toEqual([]);
  });

  it('has the simulator in files that the watchdogs and the library do not load', () => {
    const simulated = (file: string): readonly string[] =>
      [...sourcesOf(file)].filter((path) => /^simulator\/|x509/.test(path));
    expect(simulated('dist/simulator.js')).toContain('simulator/cli/index.ts');
    expect(sourcesOf('dist/dwd.js')).toContain('src/prober/index.ts');
    expect(sourcesOf('dist/healthcheck.js')).toContain('src/healthcheck/index.ts');
    expect([simulated('dist/dwd.js'), simulated('dist/healthcheck.js')]).toEqual([[], []]);
    expect(
      [...sourcesOf('dist/healthcheck.js')].filter((path) => /^src\/(?:cli|prober|weeder|care)\//.test(path)),
    ).toEqual([]);
  });

  it("is all in the context of the image's build", () => {
    const context = readFileSync(`${root}.dockerignore`, 'utf8').split('\n');
    const folders = new Set(Object.keys(metafile.inputs).map((path) => path.split('/')[0] ?? ''));
    expect([...folders].filter((folder) => folder !== 'node_modules' && !context.includes(`!${folder}`))).toEqual([]);
  });

  it('is listed with its licences', () => {
    const text = readFileSync(installed('dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const listed = namesIn(text).map((entry) => entry.split(' ')[0]);
    expect(listed).toContain('zod');
    expect([...names].filter((name) => !listed.includes(name))).toEqual([]);
    expect(
      text.match(/Permission is hereby granted|Redistribution and use|Apache License|Permission to use/g)?.length,
    ).toBeGreaterThanOrEqual(listed.length);
  });

  it('is refused without a licence', () => {
    const directory = mkdtempSync(join(tmpdir(), 'dwd-licences-'));
    mkdirSync(join(directory, 'node_modules/@some/thing'), { recursive: true });
    const manifest = { name: '@some/thing', version: '1.2.3', license: 'MIT' };
    writeFileSync(join(directory, 'node_modules/@some/thing/package.json'), JSON.stringify(manifest));
    const inputs = { 'node_modules/@some/thing/a.js': { bytesInOutput: 1 } };
    writeFileSync(join(directory, 'metafile.json'), JSON.stringify({ outputs: { 'dist/a.js': { inputs } } }));
    const collect = () =>
      spawnSync(process.execPath, [`${root}tools/third-party.mjs`, 'metafile.json', 'licences.txt'], {
        cwd: directory,
        encoding: 'utf8',
      });
    const refused = collect();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('@some/thing 1.2.3 is bundled and has no licence that could be passed on');
    writeFileSync(join(directory, 'node_modules/@some/thing/LICENCE.md'), 'Do what you like.');
    expect(collect().status).toBe(0);
    expect(readFileSync(join(directory, 'licences.txt'), 'utf8')).toContain(
      '@some/thing 1.2.3 (MIT)\n\nDo what you like.',
    );
    rmSync(directory, { recursive: true });
  });
});
