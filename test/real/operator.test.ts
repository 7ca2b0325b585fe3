import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RbacRule } from '../envtest/access.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, createDeployment, getDeployment, isAt, seedRules, startKubelets } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type MountedConfig, mountConfig } from './support/mounted-config.ts';
import { type Program, startProgram } from './support/program.ts';
import { type ProberWorld, kcm, mcm, nodes, shootNamespace, startProberWorld } from './support/prober-world.ts';

const namespace = shootNamespace;
/** A shoot whose namespace is being deleted. */
const going = 'shoot--test--going';
const leaseName = 'dwd-prober-leader-election-dry-run';

const configOf = (fraction: number, dependents: readonly string[]): string => `
kubeConfigSecretName: shoot-access-prober
probeInterval: 1s
initialDelay: 0s
probeTimeout: 5s
backoffJitterFactor: 0.1
kcmNodeMonitorGraceDuration: 8s
# One outage follows the other here: the shoot is not to count as flapping.
landingTimeout: 0s
nodeLeaseFailureFraction: ${String(fraction)}
dependentResourceInfos:
${dependents
  .map(
    (name, level) => `
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${name}}
    scaleUp: {level: ${String(level)}, timeout: 20s}
    scaleDown: {level: ${String(level)}, timeout: 20s}`,
  )
  .join('')}
`;

const eventRules: readonly RbacRule[] = [{ apiGroups: [''], resources: ['events'], verbs: ['create'] }];
const electionRules: readonly RbacRule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['create', 'get', 'update'],
    namespace: 'garden',
  },
];

describeEnvtest("an operator's view of the prober, on a real API server", () => {
  let world: ProberWorld;
  let directory: string;
  let seed: ProberWorld['seed'];
  /** Kubelets of two of the three nodes. `last` is the third. */
  let most: Kubelets;
  let last: Kubelets;
  let controllers: readonly { stop(): Promise<void> }[] = [];
  let audit: ProberWorld['seedAudit'];
  let program: Program | undefined;
  let metricsPort = 0;
  let config: MountedConfig;

  beforeAll(async () => {
    world = await startProberWorld('operator');
    ({ directory, seed, seedAudit: audit } = world);
    most = startKubelets(world.shoot.client, nodes.slice(0, 2));
    last = startKubelets(world.shoot.client, nodes.slice(2));
    for (const name of [namespace, going]) await world.createShoot(name);
    controllers = [namespace, going].map((name) => startDeploymentController(seed.client, name));
    await seed.client.delete(`/api/v1/namespaces/${going}`);
  });

  afterAll(async () => {
    program?.signal('SIGKILL');
    await program?.ended;
    await Promise.all([most.stop(), last.stop(), ...controllers.map((controller) => controller.stop())]);
    await world.stop();
  });

  const start = async (user: string, rules: readonly RbacRule[], options: readonly string[]): Promise<void> => {
    const { file } = await seed.kubeconfigFor({ user, rules });
    [metricsPort = 0] = await freePorts(1);
    const addresses = [`--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`, '--health-bind-addr=0'];
    const limits = ['--kube-api-qps=50', '--kube-api-burst=100'];
    program = startProgram(['prober', `--kubeconfig=${file}`, ...addresses, ...limits, ...options]);
    await until('probing begins', () => messages().includes('probing begins'));
  };
  const stop = async (): Promise<void> => {
    program?.signal('SIGTERM');
    expect(await program?.ended).toBe(0);
  };
  const lines = () => program?.lines() ?? [];
  const messages = (): readonly unknown[] => lines().map(({ msg }) => msg);
  const until = (what: string, isSo: () => boolean | Promise<boolean>): Promise<unknown> =>
    waitFor({ what, withinMs: 60_000, everyMs: 200, detail: () => program?.output() ?? '' }, isSo);
  const untilCounts = (expected: Readonly<Record<string, number>>, where = namespace): Promise<unknown> =>
    until(`${where}: ${JSON.stringify(expected)}`, async () => {
      const found = Object.entries(expected).map(async ([name, count]) =>
        isAt(await getDeployment(seed.client, where, name), count),
      );
      return (await Promise.all(found)).every(Boolean);
    });
  const metric = async (series: string): Promise<number | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${String(metricsPort)}/metrics`)).text();
    const value = text.split('\n').find((line) => line.startsWith(`${series} `));
    return value === undefined ? undefined : Number(value.split(' ')[1]);
  };
  const untilMetric = (series: string, value: number): Promise<unknown> =>
    until(`${series} ${String(value)}`, async () => (await metric(series)) === value);
  /** Returns the writes of a user. A review is a POST that stores nothing. */
  const writesOf = (user: string): readonly string[] =>
    audit
      .requests()
      .filter((request) => request.user === user && ['create', 'update', 'patch', 'delete'].includes(request.verb))
      .filter(({ uri }) => !uri.endsWith('/selfsubjectaccessreviews'))
      .map(({ verb, uri }) => `${verb} ${uri}`);

  it('reports in a dry run what it would do, and writes only its Lease', async () => {
    const configFile = join(directory, 'rehearsal.yaml');
    writeFileSync(configFile, configOf(0.6, [kcm, mcm]));
    await start(
      'rehearsing',
      [...seedRules, ...eventRules, ...electionRules],
      [`--config-file=${configFile}`, '--dry-run', '--enable-leader-election'],
    );
    const logged = (message: string) =>
      lines()
        .filter(({ msg, namespace: where }) => msg === message && where === namespace)
        .map(({ resource, from, to }) => ({ resource, from, to }));
    most.cut();
    const down = [
      { resource: `apps/v1/Deployment/${kcm}`, from: 2, to: 0 },
      { resource: `apps/v1/Deployment/${mcm}`, from: 3, to: 0 },
    ];
    await until('would have scaled down', () => logged('would have scaled down').length >= 2);
    most.connect();
    await until('a healthy verdict', () =>
      lines().some(({ verdict, msg }) => msg === 'verdict' && verdict === 'healthy'),
    );
    expect(logged('would have scaled down')).toEqual(down);
    expect(
      await metric(`dwd_prober_runs_total{namespace="${namespace}",result="unhealthy",dry_run="true"}`),
    ).toBeGreaterThan(0);
    await stop();
    const writes = writesOf('rehearsing');
    expect(writes.length).toBeGreaterThan(0);
    for (const write of writes) {
      expect(write).toMatch(
        new RegExp(`^(?:create .*/namespaces/garden/leases|update .*/namespaces/garden/leases/${leaseName})$`),
      );
    }
    expect(await seed.client.list('/api/v1/events')).toEqual([]);
    await untilCounts({ [kcm]: 2, [mcm]: 3 });
  });

  it('records the reason in an Event of each scaled resource, and does not mistake a terminating namespace for a missing right', async () => {
    config = mountConfig(join(directory, 'mount'), configOf(0.6, [kcm]));
    await start('dwd', [...seedRules, ...eventRules], [`--config-file=${config.file}`]);
    most.cut();
    await untilCounts({ [kcm]: 0 }, going);
    await untilCounts({ [kcm]: 0 });
    const events = (): Promise<string> =>
      seed.kubectl(['get', 'events', '-n', namespace, '--field-selector', `involvedObject.name=${kcm}`]);
    await until('an Event', async () => (await events()).includes('MeltdownProtectionScaledDown'));
    expect(await events()).toMatch(
      /Warning +MeltdownProtectionScaledDown +deployment\/kube-controller-manager +Scaled down from 2 to 0 replicas: 2\/3 node leases expired, threshold 0\.6/,
    );
    await until('the refused Event', () =>
      audit.requests().some(({ uri, status }) => uri === `/api/v1/namespaces/${going}/events` && status === 403),
    );
    most.connect();
    await untilCounts({ [kcm]: 2 });
    await until('another Event', async () => (await events()).includes('MeltdownProtectionScaledUp'));
    expect(await seed.kubectl(['describe', 'deployment', '-n', namespace, kcm])).toContain(
      'Scaled up from 0 to 2 replicas',
    );
    expect(messages().filter((msg) => String(msg).startsWith('the namespace refuses Events'))).toEqual([]);
  });

  it('takes over a changed configuration, and judges by it', async () => {
    most.cut();
    await untilCounts({ [kcm]: 0 });
    // Two of three leases are no longer enough.
    config.swap(configOf(0.9, [kcm]));
    await untilCounts({ [kcm]: 2 });
    expect(await metric('dwd_config_reload_failed')).toBe(0);
  });

  it('keeps the old configuration in force while the new one is invalid, and logs that once', async () => {
    config.swap(configOf(0.6, [kcm]).replace('probeInterval: 1s', 'probeInterval: fast'));
    await untilMetric('dwd_config_reload_failed', 1);
    const runs = `dwd_prober_runs_total{namespace="${namespace}",result="healthy"}`;
    const first = (await metric(runs)) ?? 0;
    // Longer than until the next check of the file.
    await until('more runs', async () => ((await metric(runs)) ?? 0) >= first + 8);
    expect((await getDeployment(seed.client, namespace, kcm)).spec.replicas).toBe(2);
    const complaints = lines().filter(({ msg }) => msg === 'configuration not taken over: the old one stays in force');
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ level: 'error' });
    expect(String(complaints[0]?.problem)).toMatch(/config\.yaml:3:\d+: probeInterval/);
  });

  it('takes over the later of two quick changes, with a new dependent', async () => {
    config.swap(configOf(0.95, [kcm]));
    config.swap(configOf(0.6, [kcm, mcm]));
    await untilMetric('dwd_config_reload_failed', 0);
    await untilCounts({ [kcm]: 0, [mcm]: 0 });
    most.connect();
    await untilCounts({ [kcm]: 2, [mcm]: 3 });
    await stop();
  });

  it('names another writer that scales a held resource in the log, a metric and an Event, and reverts the change', async () => {
    const { file } = mountConfig(join(directory, 'foreign'), configOf(0.6, [kcm]));
    await start('naming', [...seedRules, ...eventRules], [`--config-file=${file}`]);
    most.cut();
    await untilCounts({ [kcm]: 0 });
    await seed.kubectl(['scale', 'deployment', kcm, '-n', namespace, '--replicas=5']);
    const undone = () => lines().find(({ msg }) => msg === "undone another writer's change of replicas");
    await until('the line that names the writer', () => undone() !== undefined);
    expect(undone()).toMatchObject({ level: 'warn', namespace, manager: 'kubectl', replicas: 5 });
    await untilCounts({ [kcm]: 0 });
    const series = `dwd_prober_foreign_changes_undone_total{namespace="${namespace}",resource="apps/v1/Deployment/${kcm}",manager="kubectl"}`;
    expect(await metric(series)).toBe(1);
    await until('an Event', async () =>
      (await seed.kubectl(['describe', 'deployment', '-n', namespace, kcm])).includes(
        'Undid kubectl, who had set replicas to 5: ',
      ),
    );
    most.connect();
    await untilCounts({ [kcm]: 5 });
    await stop();
    await seed.kubectl(['scale', 'deployment', kcm, '-n', namespace, '--replicas=2']);
    await untilCounts({ [kcm]: 2 });
  });

  it('restores the others if a required resource is missing or not served, and counts no failure in a healthy shoot', async () => {
    const nothing = `
  - ref: {apiVersion: example.com/v1, kind: Nothing, name: nothing}
    scaleUp: {level: 0, timeout: 20s}
    scaleDown: {level: 0, timeout: 20s}
`;
    const { file } = mountConfig(join(directory, 'missing'), `${configOf(0.6, [kcm, mcm, 'absent'])}${nothing}`);
    await start('missing', [...seedRules, ...eventRules], [`--config-file=${file}`]);
    const runs = `dwd_prober_runs_total{namespace="${namespace}",result="healthy"}`;
    await until('healthy runs', async () => ((await metric(runs)) ?? 0) >= 3);
    const failures = `dwd_prober_scale_operations_total{namespace="${namespace}",direction="up",result="failed"}`;
    expect(await metric(failures)).toBeUndefined();
    expect(await metric(`dwd_prober_missing_resources{namespace="${namespace}"}`)).toBe(1);
    const logged = lines().filter(({ msg }) => String(msg).startsWith('a required resource is missing'));
    expect(logged.filter((line) => line.namespace === namespace)).toMatchObject([
      { level: 'error', resource: 'apps/v1/Deployment/absent' },
    ]);
    most.cut();
    await untilCounts({ [kcm]: 0, [mcm]: 0 });
    await seed.client.delete(`/apis/apps/v1/namespaces/${namespace}/deployments/${kcm}`);
    most.connect();
    await untilCounts({ [mcm]: 3 });
    expect(await metric(failures)).toBeUndefined();
    await stop();
    await createDeployment(seed.client, namespace, { name: kcm, replicas: 2 });
    await untilCounts({ [kcm]: 2 });
  });

  it('logs once per namespace that it may not write Events, and scales anyway', async () => {
    await start('without-events', seedRules, [`--config-file=${config.file}`]);
    await until('the check of rights', () => messages().includes('no right is missing'));
    most.cut();
    await untilCounts({ [kcm]: 0, [mcm]: 0 });
    most.connect();
    await untilCounts({ [kcm]: 2, [mcm]: 3 });
    const refused = lines().filter(({ msg }) => msg?.startsWith('the namespace refuses Events'));
    expect(refused.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(new Set(refused.map((line) => line.namespace)).size).toBe(refused.length);
    await stop();
  });

  it('logs a missing right at the start, before it is needed', async () => {
    const rules = seedRules.map((rule) => ({
      ...rule,
      verbs: rule.resources.includes('deployments') ? ['get', 'list', 'watch'] : rule.verbs,
    }));
    await start(
      'narrow',
      rules.filter(({ resources }) => !resources.includes('machines')),
      [`--config-file=${config.file}`],
    );
    await untilMetric('dwd_missing_rights', 3);
    const named = lines()
      .filter(({ msg, level }) => level === 'error' && msg === 'a right is missing: grant it')
      .map(({ right }) => String(right));
    expect(named).toHaveLength(3);
    expect(named[0]).toMatch(
      /^list resource "machines" in API group "machine\.sapcloud\.io" in the namespace "shoot--/,
    );
    expect(named[1]).toMatch(
      /^patch resource "deployments" "kube-controller-manager" in API group "apps" in the namesp/,
    );
    expect(named[2]).toMatch(
      /^patch resource "deployments" "machine-controller-manager" in API group "apps" in the na/,
    );
    // Without the machines nobody knows if the shoot can be protected: that must be known before an outage.
    await until('failed runs', async () => {
      const runs = await metric(`dwd_prober_runs_total{namespace="${namespace}",result="machine_list_failed"}`);
      return (runs ?? 0) > 0;
    });
    await stop();
  });
});
