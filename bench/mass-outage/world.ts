// A process of its own: serves a simulated seed with many shoots over HTTPS and keeps the record that the benchmark is judged by.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Kube } from '../../src/ports/index.ts';
import { systemClock } from '../../src/runtime/index.ts';
import {
  createWorld,
  defaultTiming,
  kubeconfigSecretName,
  requestKind,
  scaleTiming,
  serveWorld,
  simKinds,
  type World,
  type WorldShoot,
} from '../../src/sim/index.ts';
import type { Answer, Order, ScaleWrite, SeedRequest, WorldInit, WorldReport } from './protocol.ts';

const init = JSON.parse(process.argv[2] ?? '') as WorldInit;
const clock = systemClock();
const delays = monitorEventLoopDelay({ resolution: 5 });
let writes: ScaleWrite[] = [];
let requests: SeedRequest[] = [];
let cpuBefore = process.cpuUsage();
/** Lists of leases since the beginning, by shoot. */
const probes = new Map<string, number>();

/** A copy of the shoot whose lists of leases are counted. */
const countProbes = (shoot: WorldShoot): WorldShoot => {
  probes.set(shoot.name, 0);
  const kube: Kube = {
    request: (request) => {
      const { verb, resource } = requestKind(request);
      if (`${verb} ${resource}` === 'list leases') probes.set(shoot.name, (probes.get(shoot.name) ?? 0) + 1);
      return shoot.api.kube.request(request);
    },
  };
  return { ...shoot, api: { ...shoot.api, kube } };
};

const recordRequests = (kube: Kube): Kube => ({
  request: (request) => {
    requests.push({ at: clock.now(), ...requestKind(request) });
    return kube.request(request);
  },
});

const replicasOf = (object: object | undefined): number =>
  (object as { readonly spec: { readonly replicas: number } } | undefined)?.spec.replicas ?? 0;

const recordWrites = ({ store }: World): void => {
  store.subscribe(simKinds.Deployment, ({ type, object, previous }) => {
    const [from, to] = [replicasOf(previous), replicasOf(object)];
    if (type !== 'MODIFIED' || from === to) return;
    const { namespace = '', name } = object.metadata;
    writes.push({ at: clock.now(), namespace, name, from, to });
  });
};

const renewalsOf = (store: World['store']): readonly number[] =>
  store.list(simKinds.Lease).map(({ spec }) => Date.parse((spec as { readonly renewTime: string }).renewTime));

const startMeasuring = (): void => {
  [writes, requests] = [[], []];
  cpuBefore = process.cpuUsage();
  delays.enable();
  delays.reset();
};

const reportOn = (world: World): WorldReport => {
  const { user, system } = process.cpuUsage(cpuBefore);
  const tolls = world.shoots.map((shoot) => shoot.toll());
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    leases: world.shoots.map(({ namespace, store }) => ({ namespace, renewals: renewalsOf(store) })),
    writes,
    requests,
    fewestProbes: Math.min(...probes.values()),
    held: world.store.list(simKinds.Deployment).filter((deployment) => replicasOf(deployment) === 0).length,
    nodesTurnedUnknown: sum(tolls.map((toll) => toll.nodesTurnedUnknown)),
    machinesReplaced: sum(tolls.map((toll) => toll.machinesReplaced)),
    cpuSeconds: (user + system) / 1e6,
    worstLoopDelayMs: delays.max / 1e6,
  };
};

const obey = (world: World, order: Order): Answer => {
  switch (order) {
    case 'measure':
      startMeasuring();
      return { order, at: clock.now() };
    case 'cut':
      for (const shoot of world.shoots) shoot.cutKubelets();
      return { order, at: clock.now() };
    case 'restore':
      for (const shoot of world.shoots) shoot.restoreKubelets();
      return { order, at: clock.now() };
    case 'report':
      return { order, report: reportOn(world) };
  }
};

const createShoots = ({ shoots, nodes, scale }: WorldInit): World => {
  const names = Array.from({ length: shoots }, (_, index) => `s${String(index)}`);
  const timing = scaleTiming(defaultTiming, scale);
  return createWorld({ clock, timing, shoots: names.map((name) => ({ name, nodes })) });
};

const main = async (): Promise<void> => {
  const world = createShoots(init);
  const api = { ...world.api, kube: recordRequests(world.api.kube) };
  const { kubeconfig } = await serveWorld({ ...world, api, shoots: world.shoots.map(countProbes) }, clock.now());
  recordWrites(world);
  startMeasuring();
  const tell = (answer: Answer): void => void process.send?.(answer);
  process.on('message', (order: Order) => tell(obey(world, order)));
  process.once('disconnect', () => process.exit());
  tell({ order: 'ready', ready: { kubeconfig, kubeConfigSecretName: kubeconfigSecretName } });
};

await main();
