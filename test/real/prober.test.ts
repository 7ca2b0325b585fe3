import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { type Grant, leaseGrants } from '../../src/process/rights/grants.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, createDeployment, createKubeconfigSecret, getDeployment, seedRules } from '../envtest/shoot.ts';
import { createMill, startMillController } from './support/mill.ts';
import { mountConfig } from './support/mounted-config.ts';
import {
  type ProberWorld,
  kcm,
  mcm,
  nodes,
  quickConfig,
  shootNamespace as namespace,
  shootUser,
  startProberWorld,
} from './support/prober-world.ts';
import { compareRights, rulesOf } from './support/rights.ts';

const dependents = [kcm, mcm, 'mill'] as const;
/** Errors of the nodes' clocks: the API server's own stamps count. */
const clockShiftsMs = [0, 600_000, -600_000];

/** Returns the rights that the prober declares for a configuration. */
const grantsFor = (config: string): readonly Grant[] => {
  const { settings } = proberConfig.load(config, { unknownFields: 'error' });
  if (settings === undefined) return expect.unreachable('not valid');
  return proberGrants(settings, ({ kind }) => `${kind.toLowerCase()}s`);
};

describeEnvtest('the prober on real servers', () => {
  let world: ProberWorld;
  let kubelets: readonly Kubelets[];
  const untilTold = (program: ReturnType<ProberWorld['start']>, message: string) =>
    world.until(message, () => program.lines().some(({ msg }) => msg === message));
  const requestsOf = (name: string) => world.seed.requests().filter(({ user }) => user === name);

  beforeAll(async () => {
    world = await startProberWorld('prober');
    kubelets = nodes.map((node, index) => world.startKubelets([node], { clockShiftMs: clockShiftsMs[index] }));
    await world.createShoot();
    await createMill(world.seed.client, namespace, 4);
    for (const start of [startDeploymentController, startMillController]) world.use(start(world.seed.client));
  });
  afterAll(() => world.stop());

  it('protects and restores in the order of the levels, with exactly the rights that it declares', async () => {
    const { seed, shoot, until, untilCounts } = world;
    const config = quickConfig(dependents, { initialDelay: '1s' });
    const grants = [...grantsFor(config), ...leaseGrants('dwd-prober-leader-election', 'garden')];
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: rulesOf(grants) });
    const [metricsPort, healthPort] = (await freePorts(2)).map(String);
    const program = world.start([
      ...['prober', `--config-file=${world.file('config.yaml', config)}`, `--kubeconfig=${file}`],
      ...['--enable-leader-election', '--leader-election-namespace=garden'],
      ...[`--metrics-bind-addr=127.0.0.1:${metricsPort}`, `--health-bind-addr=127.0.0.1:${healthPort}`],
    ]);
    await until('readyz', async () => {
      const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    await untilTold(program, 'no right is missing');

    /** Returns the dependents that were written, in order. A write that conflicts with the mill's controller is refused and sent again. */
    const written = (): readonly string[] =>
      requestsOf('dwd')
        .filter(({ verb, status }) => verb === 'patch' && status !== 409)
        .map(({ name = '', uri }) => (/\/scale\b/.test(uri) ? `${name}/scale` : name));
    const marks = () => Promise.all(dependents.map((name) => world.marksOf(name)));

    await untilCounts({ [kcm]: 2, [mcm]: 3, mill: 4 });
    for (const kubelet of kubelets) kubelet.cut();
    await untilCounts({ [kcm]: 0, [mcm]: 0, mill: 0 });
    expect(written()).toEqual([mcm, kcm, 'mill', 'mill/scale']);
    const annotation = expect.stringMatching(
      /^\{"since":"20[^"]+Z","reason":".*(leases|renewed).*","by":".+","with":\[.+\]\}$/,
    ) as unknown;
    expect(await marks()).toMatchObject(['2', '3', '4'].map((replicas) => ({ replicas, held: annotation })));

    for (const kubelet of kubelets) kubelet.connect();
    await untilCounts({ [kcm]: 2, [mcm]: 3, mill: 4 });
    await until('no annotation', async () => (await marks()).every((all) => Object.keys(all).length === 0));
    expect(written().slice(4)).toEqual([kcm, mcm, 'mill/scale', 'mill']);
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/dwd_prober_runs_total\{[^}]*result="unhealthy"[^}]*\} [1-9]/);

    // A Deployment is read again only if its scaling begins before the other direction has ended.
    const isSometimes = ['get deployments kube-controller-manager', 'get deployments machine-controller-manager'];
    const { unused, refused } = compareRights(grants, requestsOf('dwd'));
    expect([unused.filter((right) => !isSometimes.includes(right)), refused]).toEqual([[], []]);
    const probes = shoot.requests().filter(({ user }) => user === shootUser);
    expect(compareRights(proberShootGrants, probes)).toEqual({ unused: [], refused: [] });

    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  it('records Events, names another writer and undoes its change, and follows a mounted ConfigMap', async () => {
    const { seed, directory, until, untilCounts } = world;
    const [first, second] = kubelets as [Kubelets, Kubelets];
    /** A shoot whose namespace is being deleted. */
    const going = 'shoot--test--going';
    await world.createShoot({ namespace: going });
    await untilCounts({ [kcm]: 2 }, going);
    await seed.client.delete(`/api/v1/namespaces/${going}`);

    const configOf = (nodeLeaseFailureFraction: number, ...names: Parameters<typeof quickConfig>[0] & object) =>
      quickConfig(names, { nodeLeaseFailureFraction });
    const config = mountConfig(join(directory, 'mount'), configOf(0.6, kcm));
    const rules = [...seedRules, { apiGroups: [''], resources: ['events'], verbs: ['create'] }];
    const { file } = await seed.kubeconfigFor({ user: 'dwd-of-gardenlet', rules });
    const [metricsPort] = (await freePorts(1)).map(String);
    const program = world.start([
      ...['prober', `--kubeconfig=${file}`, `--config-file=${config.file}`, '--health-bind-addr=0'],
      ...[`--metrics-bind-addr=127.0.0.1:${metricsPort}`, '--kube-api-qps=50', '--kube-api-burst=100'],
    ]);
    const untilMetric = (sample: string): Promise<unknown> =>
      until(sample, async () => {
        const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined);
        return (await answer?.text())?.split('\n').includes(sample) === true;
      });
    const untilEvent = (text: RegExp): Promise<unknown> =>
      until(String(text), async () => text.test(await seed.kubectl(['describe', 'deployment', '-n', namespace, kcm])));
    const linesOf = (message: string) => program.lines().filter(({ msg }) => msg?.startsWith(message));

    await untilTold(program, 'probing begins');
    for (const kubelet of [first, second]) kubelet.cut();
    await untilCounts({ [kcm]: 0 }, going);
    await untilCounts({ [kcm]: 0 });
    await untilEvent(
      /Warning +MeltdownProtectionScaledDown .*Scaled down from 2 to 0 replicas: 2\/3 node leases expired/,
    );
    // A terminating namespace refuses Events, which is not a missing right.
    await until('the refused Event', () =>
      seed.requests().some(({ uri, status }) => uri === `/api/v1/namespaces/${going}/events` && status === 403),
    );

    await seed.kubectl(['scale', 'deployment', kcm, '-n', namespace, '--replicas=5']);
    const undone = "undone another writer's change of replicas";
    await until('the line that names the writer', () => linesOf(undone).length > 0);
    expect(linesOf(undone)).toMatchObject([{ level: 'warn', namespace, manager: 'kubectl', replicas: 5 }]);
    await untilCounts({ [kcm]: 0 });
    await untilEvent(/Undid kubectl, who had set replicas to 5: /);

    const refused = 'configuration not taken over: the old one stays in force';
    config.swap(configOf(0.6, kcm).replace('probeInterval: 1s', 'probeInterval: fast'));
    await until('the configuration is refused', () => linesOf(refused).length > 0);
    await untilMetric('dwd_config_reload_failed 1');
    expect(linesOf(refused)).toMatchObject([
      { level: 'error', problem: expect.stringMatching(/config\.yaml:2:\d+: probeInterval/) as unknown },
    ]);
    // Two of three leases are no longer enough. Only the later of two quick changes counts.
    config.swap(configOf(0.95, kcm));
    config.swap(configOf(0.9, kcm, mcm));
    await untilCounts({ [kcm]: 5 });
    await untilMetric('dwd_config_reload_failed 0');
    config.swap(configOf(0.6, kcm, mcm));
    await untilCounts({ [kcm]: 0, [mcm]: 0 });

    for (const kubelet of [first, second]) kubelet.connect();
    await untilCounts({ [kcm]: 5, [mcm]: 3 });
    // What stays held, the next test's prober would look for.
    await untilCounts({ [kcm]: 2, [mcm]: 3 }, going);
    await untilEvent(/MeltdownProtectionScaledUp .*Scaled up from 0 to 5 replicas/);
    expect(linesOf('the namespace refuses Events')).toEqual([]);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  it("holds a cluster that is not Gardener's, with the rights that it declares and without a kind of Gardener", async () => {
    const tenant = 'tenant-one';
    const { seed, kubeconfig, until } = world;
    const config = quickConfig([kcm], {
      kubeConfigSecretName: 'tenant-kubeconfig',
      clusterSource: { kind: 'secret' },
    });
    await seed.kubectl(['create', 'namespace', tenant]);
    await createKubeconfigSecret(seed.client, { namespace: tenant, name: 'tenant-kubeconfig', kubeconfig });
    await createDeployment(seed.client, tenant, { name: kcm, replicas: 2 });
    const { file } = await seed.kubeconfigFor({ user: 'dwd-of-tenants', rules: rulesOf(grantsFor(config)) });
    const program = world.start([
      ...['prober', `--config-file=${world.file('tenants.yaml', config)}`, `--kubeconfig=${file}`],
      ...['--metrics-bind-addr=0', '--health-bind-addr=0'],
    ]);
    const untilScaled = (replicas: number) => world.untilCounts({ [kcm]: replicas }, tenant);
    const marks = () => world.marksOf(kcm, tenant);

    await untilTold(program, 'no right is missing');
    await untilScaled(2);
    for (const kubelet of kubelets) kubelet.cut();
    await untilScaled(0);
    expect(await marks()).toHaveProperty('meltdown-protection-active');
    for (const kubelet of kubelets) kubelet.connect();
    await untilScaled(2);
    expect(await marks()).toEqual({});

    // A real API server refuses a token; with the former kubeconfig the prober goes on.
    const use = (text: string): Promise<unknown> =>
      seed.client.patch(`/api/v1/namespaces/${tenant}/secrets/tenant-kubeconfig`, {
        data: { kubeconfig: Buffer.from(text).toString('base64') },
      });
    const { users, ...rest } = parse(kubeconfig) as { readonly users: readonly { readonly name: string }[] };
    await use(JSON.stringify({ ...rest, users: users.map(({ name }) => ({ name, user: { token: 'wrong' } })) }));
    await until('a refused token', () =>
      program
        .lines()
        .some(({ msg, reason }) => String(msg).startsWith('probe failed') && /401.*Unauthorized/.test(String(reason))),
    );
    await use(kubeconfig);

    // While the namespace is being deleted, the mark goes and the count stays: nothing may start there again.
    for (const kubelet of kubelets) kubelet.cut();
    await untilScaled(0);
    await seed.client.delete(`/api/v1/namespaces/${tenant}`);
    await until('no mark', async () => !('meltdown-protection-active' in (await marks())));
    expect((await getDeployment(seed.client, tenant, kcm)).spec.replicas).toBe(0);
    // It needs no kind of Gardener: it asks for none. A terminating namespace refuses Events.
    const asked = requestsOf('dwd-of-tenants').filter(({ uri }) => !uri.endsWith('/events'));
    expect(asked.filter(({ uri, status }) => /gardener|sapcloud/.test(uri) || status === 403)).toEqual([]);
  });
});
