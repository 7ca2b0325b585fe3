import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { proberConfig } from '../../src/prober/config/config.ts';
import { proberGrants, proberShootGrants } from '../../src/prober/rights.ts';
import { leaseGrants } from '../../src/process/rights/grants.ts';
import { weederGrants } from '../../src/weeder/component.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import {
  type Kubelets,
  createDeployment,
  createMachines,
  createNodes,
  createProtectedShoot,
  getDeployment,
  startKubelets,
} from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type Mill, createMill, millPath, startMillController } from './support/mill.ts';
import { type PodSpec, createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';
import { type RightsOutcomes, type RightsHarness, startRightsHarness } from './support/rights-harness.ts';
import { type Grants, type Running, type Variant, accessOf, variantsOf } from './support/without-right.ts';

const nodes = ['node-a', 'node-b', 'node-c'];
const [kcm, mcm] = ['kube-controller-manager', 'machine-controller-manager'] as const;

const proberConfigFor = (secretName: string): string => `
kubeConfigSecretName: ${secretName}
probeInterval: 2s
initialDelay: 1s
probeTimeout: 5s
kcmNodeMonitorGraceDuration: 8s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${kcm}}
    scaleUp: {level: 0, timeout: 10s}
    scaleDown: {level: 1, timeout: 60s}
  - ref: {apiVersion: apps/v1, kind: Deployment, name: ${mcm}}
    scaleUp: {level: 1, timeout: 10s}
    scaleDown: {level: 0, timeout: 60s}
  - ref: {apiVersion: test.dependency-watchdog.gardener.cloud/v1, kind: Watermill, name: mill}
    scaleUp: {level: 2, timeout: 10s}
    scaleDown: {level: 0, timeout: 60s}
`;

const proberVariants = variantsOf('probe', (id): Grants => {
  const { settings } = proberConfig.load(proberConfigFor(id), { unknownFields: 'error' });
  if (settings === undefined) return expect.unreachable('not valid');
  const grants = proberGrants(settings, ({ kind }) => `${kind.toLowerCase()}s`);
  return { seed: [...grants, ...leaseGrants('dwd-prober-leader-election', id)], shoot: proberShootGrants };
});

const weederConfig = (id: string): string => `
watchDuration: 2m
servicesAndDependantSelectors:
  etcd-${id}:
    podSelectors: [{matchLabels: {variant: ${id}}}]
`;

const weederVariants = variantsOf('weed', (id) => ({
  seed: [...weederGrants, ...leaseGrants('dwd-weeder-leader-election', id)],
}));

/**
 * The effect of each missing right of the prober: the counts of kcm, mcm and mill in an outage, then the counts and traces after it. `blind`: a
 * watch fails, and the restoration is 90 s late.
 */
const probed: Readonly<Record<string, readonly [inOutage: string, afterwards: string]>> = {
  all: ['0 0 0', '2 3 4, Events'],
  'list clusters.extensions.gardener.cloud': ['2 3 4', '2 3 4, no Events, blind'],
  'watch clusters.extensions.gardener.cloud': ['2 3 4', '2 3 4, no Events, blind'],
  'list secrets': ['2 3 4', '2 3 4, no Events, blind'],
  'watch secrets': ['2 3 4', '2 3 4, no Events, blind'],
  'list namespaces': ['0 0 0', '2 3 4, Events, blind'],
  'watch namespaces': ['0 0 0', '2 3 4, Events, blind'],
  'list machines.machine.sapcloud.io': ['2 3 4', '2 3 4, no Events'],
  'list deployments.apps kube-controller-manager': ['0 0 0', '2 3 4, Events, blind'],
  'watch deployments.apps kube-controller-manager': ['0 0 0', '2 3 4, Events, blind'],
  'get deployments.apps kube-controller-manager': ['0 0 0', '2 3 4, Events'],
  'patch deployments.apps kube-controller-manager': ['2 0 0', '2 3 4, Events'],
  'list deployments.apps machine-controller-manager': ['0 0 0', '2 3 4, Events, blind'],
  'watch deployments.apps machine-controller-manager': ['0 0 0', '2 3 4, Events, blind'],
  'get deployments.apps machine-controller-manager': ['0 0 0', '2 3 4, Events'],
  'patch deployments.apps machine-controller-manager': ['0 3 0', '2 3 4, Events'],
  'list watermills.test.dependency-watchdog.gardener.cloud mill': ['0 0 0', '2 3 4, Events, blind'],
  'watch watermills.test.dependency-watchdog.gardener.cloud mill': ['0 0 0', '2 3 4, Events, blind'],
  'get watermills.test.dependency-watchdog.gardener.cloud mill': ['0 0 4', '2 3 4, Events'],
  'patch watermills.test.dependency-watchdog.gardener.cloud mill': ['0 0 4', '2 3 4, Events'],
  'get watermills/scale.test.dependency-watchdog.gardener.cloud mill': ['0 0 4', '2 3 4, Events'],
  'patch watermills/scale.test.dependency-watchdog.gardener.cloud mill': ['0 0 4', '2 3 4, Events'],
  'list leases.coordination.k8s.io dwd-prober-leader-election': ['0 0 0', '2 3 4, Events'],
  'create events': ['0 0 0', '2 3 4, no Events'],
  'create leases.coordination.k8s.io': ['2 3 4', '2 3 4, no Events'],
  'get leases.coordination.k8s.io dwd-prober-leader-election': ['2 3 4', '2 3 4, no Events'],
  'update leases.coordination.k8s.io dwd-prober-leader-election': ['2 3 4', '2 3 4, no Events'],
  'list leases.coordination.k8s.io (shoot)': ['2 3 4', '2 3 4, no Events'],
  'list nodes (shoot)': ['2 3 4', '2 3 4, no Events'],
};
/** Variants that never lead for lack of a Lease, but still observe. */
const observing: RightsOutcomes = {
  'create leases.coordination.k8s.io': 'healthy',
  'get leases.coordination.k8s.io dwd-prober-leader-election': 'healthy',
};
const probedAt = (fateOf: (fates: readonly [string, string]) => string): RightsOutcomes =>
  Object.fromEntries(Object.entries(probed).map(([name, fates]) => [name, fateOf(fates)]));

/** The effect of each missing right of the weeder: the deleted pods of two, one that crash-loops before its service is ready and one later. */
const weeded: RightsOutcomes = {
  all: 'early,late, Events',
  'list endpointslices.discovery.k8s.io': ', no Events, blind',
  'watch endpointslices.discovery.k8s.io': ', no Events, blind',
  'list pods': ', no Events, blind',
  'watch pods': 'early, Events, blind',
  'delete pods': ', no Events',
  'create events': 'early,late, no Events',
  'create leases.coordination.k8s.io': ', no Events',
  'get leases.coordination.k8s.io dwd-weeder-leader-election': ', no Events',
  'update leases.coordination.k8s.io dwd-weeder-leader-election': ', no Events',
};

// Each variant has its own users, Secret, namespace and Lease.
describeEnvtest('without one of its rights', () => {
  let harness: RightsHarness;
  let kubelets: Kubelets;
  let controllers: readonly { stop(): Promise<void> }[] = [];

  const startControllers = (): void => {
    controllers = [startDeploymentController(harness.plane.client), startMillController(harness.plane.client)];
  };
  const stopControllers = async (): Promise<void> => {
    await Promise.all(controllers.map((one) => one.stop()));
    controllers = [];
  };

  beforeAll(async () => {
    harness = await startRightsHarness();
    await createNodes(harness.plane.client, nodes);
    kubelets = startKubelets(harness.plane.client, nodes);
  });
  afterEach(async () => {
    await harness.stopAll();
    await stopControllers();
  });
  afterAll(async () => {
    await kubelets.stop();
    await harness.stop();
  });

  const createShoot = async (variant: Variant): Promise<void> => {
    const { client } = harness.plane;
    const { id: namespace } = variant;
    const kubeconfig = await accessOf(harness.plane, variant, 'shoot');
    await createProtectedShoot(harness.plane, { namespace, kubeconfig, secretName: namespace });
    await createMachines(client, { namespace, nodes });
    await createDeployment(client, namespace, { name: kcm, replicas: 2 });
    await createDeployment(client, namespace, { name: mcm, replicas: 3 });
    await createMill(client, namespace, 4);
  };

  const countsOf = async ({ variant: { id } }: Running): Promise<string> => {
    const { client } = harness.plane;
    const scaled = await Promise.all([kcm, mcm].map((name) => getDeployment(client, id, name)));
    const mill = await client.get<Mill>(millPath(id));
    return [...scaled.map(({ spec }) => spec.replicas), mill.spec.wheel.count].join(' ');
  };

  const traces = async ({ program, variant: { id } }: Running): Promise<string> => {
    const all = await harness.plane.client.list<{ readonly reason: string }>(`/api/v1/namespaces/${id}/events`);
    // The probers of the other variants tell that they cannot read this shoot.
    const events = all.filter(({ reason }) => !/^MeltdownProtection(?:Blind|Lacking|Back)$/.test(reason));
    const isBlind = program
      .lines()
      .some(
        ({ msg, problem }) => msg?.startsWith('list and watch interrupted') && String(problem).includes('forbidden'),
      );
    return `${events.length > 0 ? 'Events' : 'no Events'}${isBlind ? ', blind' : ''}`;
  };

  it('the prober', async () => {
    await harness.start('prober', proberVariants, ({ id }) => ({ config: proberConfigFor(id) }));
    // All objects are created after the initial lists, so that the prober sees them only by watches.
    for (const variant of proberVariants) await createShoot(variant);
    startControllers();
    const verdicts = async ({ program, variant: { id } }: Running): Promise<string> =>
      String(program.lines().findLast(({ msg, namespace }) => msg === 'verdict' && namespace === id)?.verdict);
    await harness.until(
      'healthy',
      { ...probedAt(([counts]) => (counts === '2 3 4' ? 'undefined' : 'healthy')), ...observing },
      verdicts,
    );
    // A Deployment without status would count as scaled down at once, and would not be read during the scale-up.
    await waitFor({ what: 'Deployments that are ready', withinMs: 60_000, everyMs: 1_000 }, async () => {
      const { client } = harness.plane;
      const places = proberVariants.flatMap(({ id }) => [kcm, mcm].map((name) => [id, name] as const));
      const all = await Promise.all(places.map(([id, name]) => getDeployment(client, id, name)));
      return all.every(({ spec, status }) => status?.readyReplicas === spec.replicas);
    });
    // Without controllers, no scale-down settles: the scale-up begins before the scale-down has ended, and must read the resources.
    await stopControllers();
    kubelets.cut();
    await harness.until(
      'in the outage',
      probedAt(([counts]) => counts),
      countsOf,
    );
    kubelets.connect();
    await waitFor({ what: 'the way up', withinMs: 60_000 }, async () => {
      const { spec } = await getDeployment(harness.plane.client, proberVariants[0]!.id, kcm);
      return spec.replicas === 2;
    });
    startControllers();
    await harness.until(
      'afterwards',
      probedAt(([, fate]) => fate),
      async (one) => `${await countsOf(one)}, ${await traces(one)}`,
    );
    // These are read only if the scale-up begins before the scale-down has ended, which depends on timing.
    await harness.expectNamedAndRefused([kcm, mcm].map((name) => `get deployments.apps ${name}`));
  }, 300_000);

  it('the weeder', async () => {
    const { client } = harness.plane;
    const podOf = (id: string, name: string): PodSpec => ({
      namespace: id,
      name,
      labels: { variant: id },
      owner: name,
    });
    await harness.start('weeder', weederVariants, ({ id }) => ({ config: weederConfig(id) }));
    for (const { id } of weederVariants) {
      for (const name of ['early', 'late']) await createPod(client, podOf(id, name));
      await setCrashing(client, podOf(id, 'early'), ['main']);
      await setEndpoints(client, { namespace: id, service: `etcd-${id}`, ready: [true] });
    }
    const goingIn = async (id: string): Promise<string> => {
      const pods = await listPods(client, id);
      return pods.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.name])).join();
    };
    await waitFor({ what: 'the first to be weeded', withinMs: 60_000 }, async () => {
      const going = await Promise.all(weederVariants.map(({ id }) => goingIn(id)));
      return going[0] === 'early';
    });
    for (const { id } of weederVariants) await setCrashing(client, podOf(id, 'late'), ['main']);
    await harness.until('weeded', weeded, async (one) => `${await goingIn(one.variant.id)}, ${await traces(one)}`);
    await harness.expectNamedAndRefused();
  }, 300_000);
});
