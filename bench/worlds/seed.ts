// Separate process: serves a simulated seed with its shoots over HTTPS, and records what the benchmark evaluates.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { requestKind } from '../../simulator/network/counting.ts';
import { serveHttps } from '../../simulator/network/https.ts';
import { serveWorld } from '../../simulator/world/serve.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { defaultTiming, scaleTiming } from '../../simulator/world/timing.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';
import type { Size } from '../harness/part.ts';
import { type Traffic, addTraffic, countTraffic, noTraffic, probeKind } from '../harness/traffic.ts';

/** Arguments of the process. */
export interface SeedInit extends Size {
  /** Factor of all times; below 1, everything is faster. */
  readonly scale: number;
}

/** One write to the replicas of a Deployment. */
export interface ScaleWrite {
  /** Time at which the server had stored the write, in milliseconds since the epoch. */
  readonly at: number;
  readonly namespace: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** One request that reached the seed's API server. */
export interface SeedRequest {
  readonly at: number;
  readonly verb: string;
  readonly resource: string;
}

/** The world's record since the latest `measure`. */
export interface SeedReport {
  /** Last renewals of each shoot's leases, milliseconds since the epoch. */
  readonly leases: readonly { readonly namespace: string; readonly renewals: readonly number[] }[];
  readonly writes: readonly ScaleWrite[];
  readonly requests: readonly SeedRequest[];
  readonly held: number;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
  /** Longest delay of the event loop's timers, in milliseconds. */
  readonly worstLoopDelayMs: number;
}

/** Orders of the process and their results. `cut` and `restore` return the time at which they were done, in milliseconds since the epoch. */
export interface SeedProcess extends Answers {
  readonly ready: { readonly kubeconfig: string };
  /** Serves each shoot a second time, uncounted and without credentials, for the bare loop. */
  readonly openDoors: { readonly ca: string; readonly ports: readonly number[] };
  /** Traffic of all shoots since the start. */
  readonly traffic: Traffic;
  /** Number of lists of leases since the start, of the shoot with the fewest. */
  readonly fewestProbes: number;
  readonly measure: null;
  readonly cut: number;
  readonly restore: number;
  readonly report: SeedReport;
}

const { shoots: count, nodes, scale } = servedArgs() as SeedInit;
const clock = systemClock();
/** Interval at which the history of the shoots' stores is dropped to save memory, because nothing watches the shoots. */
const compactMs = 10_000;
const delays = monitorEventLoopDelay({ resolution: 5 });
let writes: ScaleWrite[] = [];
let requests: SeedRequest[] = [];

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

const startMeasuring = (): null => {
  [writes, requests] = [[], []];
  delays.enable();
  delays.reset();
  return null;
};

const report = (): SeedReport => {
  const impacts = world.shoots.map((shoot) => shoot.impact());
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    leases: world.shoots.map(({ namespace, store }) => ({ namespace, renewals: renewalsOf(store) })),
    ...{ writes, requests },
    held: world.store.list(simKinds.Deployment).filter((deployment) => replicasOf(deployment) === 0).length,
    nodesTurnedUnknown: sum(impacts.map((impact) => impact.nodesTurnedUnknown)),
    machinesReplaced: sum(impacts.map((impact) => impact.machinesReplaced)),
    worstLoopDelayMs: delays.max / 1e6,
  };
};

const forEachShoot = (act: (shoot: WorldShoot) => void): number => {
  for (const shoot of world.shoots) act(shoot);
  return clock.now();
};

const compact = (): void => {
  forEachShoot(({ store }) => store.compact());
  clock.timer(compactMs, compact);
};

const openDoors = async (): Promise<SeedProcess['openDoors']> => {
  const certificates = await createCertificates({ now: clock.now() });
  const faces = await Promise.all(world.shoots.map(({ api }) => serveHttps({ kube: api.server, certificates })));
  return { ca: certificates.ca, ports: faces.map(({ port }) => port) };
};

const names = Array.from({ length: count }, (_, index) => `s${String(index)}`);
const timing = scaleTiming(defaultTiming, scale);
const world = createWorld({ clock, timing, shoots: names.map((name) => ({ name, nodes })) });
const api = { ...world.api, kube: recordRequests(world.api.kube) };
const shoots = world.shoots.map((shoot) => ({ ...shoot, api: { ...shoot.api, kube: countTraffic(shoot.api.kube) } }));
const { kubeconfig, shootStats } = await serveWorld({ ...world, api, shoots }, clock.now());

const traffic = (): Traffic =>
  shoots.reduce((total, shoot) => {
    const { connections, resumed, bytesIn, bytesOut } = shootStats(shoot.name);
    return addTraffic(total, { tcp: { connections, resumed, bytesIn, bytesOut }, ...shoot.api.kube.counted() });
  }, noTraffic);

recordWrites(world);
startMeasuring();
compact();
answerOrders<SeedProcess>(
  { kubeconfig },
  {
    ...{ openDoors, traffic, report, measure: startMeasuring },
    fewestProbes: () => Math.min(...shoots.map(({ api: { kube } }) => kube.counted().requests[probeKind] ?? 0)),
    cut: () => forEachShoot((shoot) => shoot.cutKubelets()),
    restore: () => forEachShoot((shoot) => shoot.restoreKubelets()),
  },
);
