import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { capiPath, clusterApiKinds, createCapiCluster, createHealthCheck } from '../envtest/cluster-api.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { freePorts } from '../envtest/processes.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  type Kubelets,
  createDeployment,
  createNodes,
  getDeployment,
  isAt,
  shootRules,
  startKubelets,
} from '../envtest/shoot.ts';
import type { SeedStatus } from '../../src/status/index.ts';
import { waitFor } from '../envtest/waiting.ts';
import { printedRules } from './support/printed-rules.ts';
import { type Program, startProgram } from './support/program.ts';

const namespace = 'fleet';
const names = ['one', 'two'] as const;
type Name = (typeof names)[number];
const replicas = { one: 2, two: 3 } as const;
const nodes = ['node-a', 'node-b', 'node-c'];
const prefix = 'dependency-watchdog.gardener.cloud';

const config = `
kubeConfigSecretName: "{{ cluster }}-kubeconfig"
clusterSource: {kind: cluster-api}
probeInterval: 1s
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
landingTimeout: 1s
kcmNodeMonitorGraceDuration: 8s
apiServerRef: {apiVersion: apps/v1, kind: Deployment, name: "{{ cluster }}-apiserver"}
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: "{{ cluster }}-controller-manager", namespace: "{{ namespace }}"}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
  - ref: {apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck, name: "{{ cluster }}-mhc"}
    action: annotate
    annotation: {key: cluster.x-k8s.io/paused}
    scaleUp: {level: 1}
    scaleDown: {level: 0}
`;

const paused = 'cluster.x-k8s.io/paused';
/** The users' own annotations of the MachineHealthChecks. The second one is paused. */
const ownAnnotations = { one: { owner: 'a' }, two: { [paused]: 'true' } } as const;

describeEnvtest('two clusters of Cluster API in one namespace', () => {
  let directory: string;
  let seed: ControlPlane;
  let clusters: Readonly<Record<Name, ControlPlane>>;
  let kubelets: Readonly<Record<Name, Kubelets>>;
  let controller: { stop(): Promise<void> };
  let program: Program;
  let startProber: () => Program;
  let operator: readonly string[];
  let leader: string;
  let release: readonly string[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-cluster-api-'));
    const [management, one, two] = await Promise.all([
      startControlPlane({ name: 'seed', kinds: clusterApiKinds('v1beta2') }),
      startControlPlane({ name: 'one', kinds: [] }),
      startControlPlane({ name: 'two', kinds: [] }),
    ]);
    seed = management;
    clusters = { one, two };
    await seed.client.apply(`/api/v1/namespaces/${namespace}`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    for (const name of names) {
      await createNodes(clusters[name].client, nodes);
      const { text } = await clusters[name].kubeconfigFor({ user: 'prober', rules: shootRules });
      await createDeployment(seed.client, namespace, { name: kcmOf(name), replicas: replicas[name] });
      await createCapiCluster(seed.client, { namespace, name, nodes, kubeconfig: text });
      await createHealthCheck(seed.client, { namespace, name, annotations: ownAnnotations[name] });
    }
    kubelets = { one: startKubelets(one.client, nodes), two: startKubelets(two.client, nodes) };
    controller = startDeploymentController(seed.client, namespace);
    const [healthPort = 0] = await freePorts(1);
    const configFile = join(directory, 'config.yaml');
    writeFileSync(configFile, config);
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: await printedRules(configFile) });
    startProber = () =>
      startProgram([
        ...['prober', `--config-file=${configFile}`, `--kubeconfig=${file}`],
        ...['--metrics-bind-addr=0', `--health-bind-addr=127.0.0.1:${String(healthPort)}`],
      ]);
    program = startProber();
    const rules = await printedRules(configFile, 'operator', ['ClusterRole', 'Role']);
    const kim = await seed.kubeconfigFor({ user: 'kim', rules });
    operator = [`--kubeconfig=${kim.file}`];
    leader = `--leader-url=http://127.0.0.1:${String(healthPort)}`;
    release = ['release', `--config-file=${configFile}`, '--yes', leader];
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await Promise.all([kubelets.one.stop(), kubelets.two.stop(), controller.stop()]);
    await Promise.all([seed, clusters.one, clusters.two].map((plane) => plane.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  const kcmOf = (name: Name): string => `${name}-controller-manager`;
  const countOf = async (name: Name): Promise<number> =>
    (await getDeployment(seed.client, namespace, kcmOf(name))).spec.replicas;
  const untilScaled = (name: Name, wanted: number): Promise<unknown> =>
    waitFor(
      { what: `${kcmOf(name)} at ${String(wanted)} replicas`, withinMs: 40_000, detail: program.output },
      async () => isAt(await getDeployment(seed.client, namespace, kcmOf(name)), wanted),
    );
  const marks = async (name: Name): Promise<readonly string[]> => {
    const { metadata } = await getDeployment(seed.client, namespace, kcmOf(name));
    return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
  };
  const healthCheck = (name: Name): string => capiPath(namespace, 'machinehealthchecks', `${name}-mhc`);
  const annotationsOf = async (name: Name): Promise<Readonly<Record<string, string>>> => {
    const { metadata } = await seed.client.get<{ metadata: { annotations?: Record<string, string> } }>(
      healthCheck(name),
    );
    return metadata.annotations ?? {};
  };
  const untilAnnotated = (name: Name, wanted: object): Promise<unknown> =>
    waitFor(
      { what: `${name}-mhc with ${JSON.stringify(wanted)}`, withinMs: 40_000, detail: program.output },
      async () => {
        const annotations = await annotationsOf(name);
        const plain = Object.entries(annotations).filter(([key]) => key !== `${prefix}/held`);
        return isDeepStrictEqual(Object.fromEntries(plain), wanted);
      },
    );
  /** Returns the annotations of a held MachineHealthCheck. `former` is the users' value. */
  const held = (own: object, former?: string): object => ({
    ...own,
    [paused]: 'dependency-watchdog',
    [`${prefix}/meltdown-protection-active`]: '',
    [`${prefix}/former-annotation`]: JSON.stringify({ key: paused, value: 'dependency-watchdog', former }),
  });
  const untilLogged = (words: Readonly<Record<string, string>>, from: number): Promise<unknown> =>
    waitFor({ what: `the line ${JSON.stringify(words)}`, withinMs: 40_000, detail: program.output }, async () =>
      program
        .lines()
        .slice(from)
        .some((line) => Object.entries(words).every(([key, value]) => line[key] === value)),
    );
  const cluster = (name: Name): string => capiPath(namespace, 'clusters', name);
  const setPaused = (name: Name, paused: boolean): Promise<unknown> =>
    seed.client.patch(cluster(name), { spec: { paused } });
  const pauseNamespace = (value: string | null): Promise<unknown> =>
    seed.client.patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { annotations: { [`${prefix}/paused`]: value } },
    });

  const dwd = async (...args: readonly string[]) => {
    const command = startProgram([...args, ...operator]);
    return { code: await command.ended, text: command.output() };
  };
  const isPaused = async (name: Name): Promise<boolean> => {
    const { metadata } = await seed.client.get<{ metadata: { annotations?: object } }>(cluster(name));
    return Object.hasOwn(metadata.annotations ?? {}, `${prefix}/paused`);
  };

  it('are probed one by one, with the printed rights', async () => {
    await untilLogged({ msg: 'no right is missing' }, 0);
    for (const name of names) await untilLogged({ msg: 'verdict', namespace: `${namespace}/${name}` }, 0);
  });

  it('are held one by one in an outage', async () => {
    kubelets.one.cut();
    await untilScaled('one', 0);
    expect(await marks('one')).toContain(`${prefix}/meltdown-protection-active`);
    await untilAnnotated('one', held(ownAnnotations.one));
    expect(await annotationsOf('two')).toEqual(ownAnnotations.two);
    expect(await countOf('two')).toBe(3);
    expect(await marks('two')).toEqual([]);
  });

  it('are restored to their former counts when the kubelets renew again', async () => {
    kubelets.one.connect();
    await untilScaled('one', 2);
    expect(await marks('one')).toEqual([]);
    await untilAnnotated('one', ownAnnotations.one);
  });

  it('are paused and resumed by name, independently of each other', async () => {
    const paused = await dwd('pause', '--shoot=fleet/one', '--reason=LB maintenance');
    expect(paused.code, paused.text).toBe(0);
    expect(paused.text).toMatch(/^fleet\/one: paused until it is taken back: LB maintenance \(kim, /);
    expect([await isPaused('one'), await isPaused('two')]).toEqual([true, false]);
    const from = program.lines().length;
    kubelets.one.cut();
    kubelets.two.cut();
    await untilLogged({ verdict: 'unhealthy', namespace: 'fleet/one' }, from);
    await untilScaled('two', 0);
    expect(await countOf('one')).toBe(2);
    const resumed = await dwd('resume', '--shoot=fleet/one');
    expect(resumed, resumed.text).toMatchObject({ code: 0, text: 'fleet/one: the pause has ended\n' });
    await untilScaled('one', 0);
  });

  it('are shown and explained by name', async () => {
    const status = await dwd('status', '--shoot=fleet/one', '-o=json', leader);
    const { shoots } = JSON.parse(status.text) as { readonly shoots: readonly object[] };
    // Its MachineHealthCheck may or may not be held yet.
    const kcm: unknown = expect.objectContaining({ name: kcmOf('one') });
    expect(shoots).toMatchObject([
      { namespace: 'fleet/one', state: 'protected', held: expect.arrayContaining([kcm]) as unknown },
    ]);
    const explained = await dwd('explain', 'fleet/one', leader);
    expect(explained, explained.text).toMatchObject({ code: 0 });
    expect(explained.text).toContain('HELD');
    const none = await dwd('pause', '--shoot=fleet/three', '--reason=x');
    expect(none.code).toBe(1);
    expect(none.text).toContain('there is no shoot fleet/three');
  });

  it('are released by name, during an outage only on request', async () => {
    const refused = await dwd(...release, '--shoot=fleet/one');
    expect(refused.code).toBe(1);
    expect(refused.text).toContain('fleet/one: 3/3 leases expired, protected for');
    expect(refused.text).not.toContain('fleet/two');
    const released = await dwd(...release, '--shoot=fleet/one', '--despite-outage');
    expect(released.code, released.text).toBe(0);
    expect(released.text).toContain('restored Deployment fleet/one-controller-manager\n');
    expect(released.text).toContain('fleet/one: paused for 10 minutes; dwd resume --shoot fleet/one ends that\n');
    expect([await countOf('one'), await countOf('two')]).toEqual([2, 0]);
    expect([await isPaused('one'), await isPaused('two')]).toEqual([true, false]);
    const whole = await dwd(...release, '--shoot=fleet', '--despite-outage');
    expect(whole.text).toContain('restored Deployment fleet/two-controller-manager\n');
    const from = program.lines().length;
    kubelets.one.connect();
    kubelets.two.connect();
    // Waits, because otherwise the end of the pause would find the same outage, and the next test no new one.
    for (const name of names) await untilLogged({ verdict: 'healthy', namespace: `${namespace}/${name}` }, from);
    for (const name of names) expect((await dwd('resume', `--shoot=fleet/${name}`)).code).toBe(0);
  });

  it('are not held while their namespace is paused, but are held as soon as the pause ends', async () => {
    await pauseNamespace('{"reason":"maintenance","by":"test"}');
    const from = program.lines().length;
    kubelets.one.cut();
    kubelets.two.cut();
    for (const name of names) await untilLogged({ verdict: 'unhealthy', namespace: `${namespace}/${name}` }, from);
    expect([await countOf('one'), await countOf('two')]).toEqual([2, 3]);
    expect([await annotationsOf('one'), await annotationsOf('two')]).toEqual([ownAnnotations.one, ownAnnotations.two]);
    await pauseNamespace(null);
    await Promise.all([untilScaled('one', 0), untilScaled('two', 0)]);
    await untilAnnotated('one', held(ownAnnotations.one));
    await untilAnnotated('two', held({}, 'true'));
  });

  it('are restored while the Cluster is paused, each on its own, and held again afterwards', async () => {
    await setPaused('one', true);
    await untilScaled('one', 2);
    expect(await marks('one')).toEqual([]);
    await untilAnnotated('one', ownAnnotations.one);
    expect(await countOf('two')).toBe(0);
    await setPaused('one', false);
    await untilScaled('one', 0);
    await untilAnnotated('one', held(ownAnnotations.one));
  });

  it('are annotated again if another writer removes the annotation, and the log reports it', async () => {
    const from = program.lines().length;
    await seed.client.patch(healthCheck('one'), { metadata: { annotations: { [paused]: null } } });
    await untilLogged({ msg: "undone another writer's change of an annotation" }, from);
    await untilAnnotated('one', held(ownAnnotations.one));
  });

  it('are shown and released while no prober runs, by the installed configuration', async () => {
    program.signal('SIGKILL');
    await program.ended;
    await seed.client.apply('/api/v1/namespaces/garden', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'garden' },
    });
    await seed.client.create('/api/v1/namespaces/garden/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'config', labels: { [`${prefix}/component`]: 'prober' } },
      data: { 'config.yaml': config },
    });
    expect((await dwd('pause', '--shoot=fleet/one', '--reason=LB maintenance')).code).toBe(0);
    const status = await dwd('status', '-o=json');
    const { source, shoots, problems } = JSON.parse(status.text) as SeedStatus;
    expect([source, problems]).toEqual(['objects', ['no ready pod of the prober was found']]);
    expect(shoots.map((shoot) => shoot.namespace).toSorted()).toEqual(['fleet/one', 'fleet/two']);
    for (const name of names) {
      const shoot = shoots.find((one) => one.namespace === `fleet/${name}`);
      expect(shoot).toMatchObject({ project: 'fleet', name, state: 'protected' });
      expect(shoot?.reason).toMatch(/leases expired/);
      expect(shoot?.held).toMatchObject([
        { kind: 'Deployment', name: kcmOf(name), replicas: replicas[name] },
        { kind: 'MachineHealthCheck', name: `${name}-mhc`, annotation: paused },
      ]);
      expect(shoot?.held.every(({ since = '' }) => since.endsWith('Z'))).toBe(true);
      expect(shoot?.paused?.reason).toBe(name === 'one' ? 'LB maintenance' : undefined);
    }
    const explained = await dwd('explain', 'fleet/two');
    expect(explained.text).toContain(kcmOf('two'));
    expect(explained.text).toContain('no prober responded');
    // The held resources themselves give the order of the restoration, so no file is needed.
    const foreseen = await dwd('release', '--shoot=fleet/two', '--dry-run', leader);
    expect(foreseen, foreseen.text).toMatchObject({ code: 0 });
    expect(foreseen.text).toContain('Deployment fleet/two-controller-manager');
    expect(foreseen.text).toContain('MachineHealthCheck fleet/two-mhc');
    expect(foreseen.text).not.toContain('fleet/one');
    const released = await dwd('release', '--shoot=fleet/two', '--yes', '--despite-outage', leader);
    expect(released, released.text).toMatchObject({ code: 0 });
    for (const what of ['Deployment fleet/two-controller-manager', 'MachineHealthCheck fleet/two-mhc']) {
      expect(released.text).toContain(`restored ${what}\n`);
    }
    expect([await countOf('one'), await countOf('two')]).toEqual([0, 3]);
    expect(await annotationsOf('two')).toEqual(ownAnnotations.two);
    for (const name of names) expect((await dwd('resume', `--shoot=fleet/${name}`)).code).toBe(0);
    program = startProber();
    await untilScaled('two', 0);
    await untilAnnotated('two', held({}, 'true'));
    expect(await countOf('one')).toBe(0);
  });

  it('are restored while the Cluster is being deleted', async () => {
    await seed.client.delete(cluster('two'));
    await untilScaled('two', 3);
    expect(await marks('two')).toEqual([]);
    await untilAnnotated('two', ownAnnotations.two);
    expect(await countOf('one')).toBe(0);
  });

  it('leave nothing behind when the outage is over', async () => {
    kubelets.one.connect();
    await untilScaled('one', 2);
    expect([await marks('one'), await marks('two')]).toEqual([[], []]);
    await untilAnnotated('one', ownAnnotations.one);
    expect(await annotationsOf('two')).toEqual(ownAnnotations.two);
  });
});
