// Separate process: serves a simulated seed with its shoots over HTTPS, and records what the benchmark evaluates.
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { withCounting } from '../../simulator/network/counting.ts';
import { serveHttps } from '../../simulator/network/https.ts';
import { serveWorld } from '../../simulator/world/serve.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { defaultTiming, scaleTiming } from '../../simulator/world/timing.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';

export interface Size {
  readonly shoots: number;
  /** Number of nodes of each shoot. */
  readonly nodes: number;
}

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
  readonly from: number;
  readonly to: number;
}

export interface SeedReport {
  /** Last renewals of each shoot's leases, milliseconds since the epoch. */
  readonly leases: readonly { readonly namespace: string; readonly renewals: readonly number[] }[];
  readonly writes: readonly ScaleWrite[];
  readonly held: number;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
}

/** Orders of the process and their results. `cut` and `restore` return the time at which they were done, in milliseconds since the epoch. */
export interface SeedProcess extends Answers {
  readonly ready: { readonly kubeconfig: string };
  /** Serves each shoot a second time, uncounted and without credentials, for the bare loop. */
  readonly openDoors: { readonly ca: string; readonly ports: readonly number[] };
  /** Number of probes (lists of leases) of each shoot since the start. */
  readonly probes: readonly number[];
  readonly cut: number;
  readonly restore: number;
  readonly report: SeedReport;
}

const { shoots: count, nodes, scale } = servedArgs() as SeedInit;
const clock = systemClock();
/** Interval at which the history of the shoots' stores is dropped to save memory, because nothing watches the shoots. */
const compactMs = 10_000;
const writes: ScaleWrite[] = [];

const replicasOf = (object: object | undefined): number =>
  (object as { readonly spec: { readonly replicas: number } } | undefined)?.spec.replicas ?? 0;

const recordWrites = ({ store }: World): void => {
  store.subscribe(simKinds.Deployment, ({ type, object, previous }) => {
    const [from, to] = [replicasOf(previous), replicasOf(object)];
    if (type !== 'MODIFIED' || from === to) return;
    writes.push({ at: clock.now(), namespace: object.metadata.namespace ?? '', from, to });
  });
};

const renewalsOf = (store: World['store']): readonly number[] =>
  store.list(simKinds.Lease).map(({ spec }) => Date.parse((spec as { readonly renewTime: string }).renewTime));

const report = (): SeedReport => {
  const impacts = world.shoots.map((shoot) => shoot.impact());
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    leases: world.shoots.map(({ namespace, store }) => ({ namespace, renewals: renewalsOf(store) })),
    writes,
    held: world.store.list(simKinds.Deployment).filter((deployment) => replicasOf(deployment) === 0).length,
    nodesTurnedUnknown: sum(impacts.map((impact) => impact.nodesTurnedUnknown)),
    machinesReplaced: sum(impacts.map((impact) => impact.machinesReplaced)),
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
const shoots = world.shoots.map((shoot) => ({ ...shoot, api: { ...shoot.api, kube: withCounting(shoot.api.kube) } }));
const { kubeconfig } = await serveWorld({ ...world, shoots }, clock.now());
recordWrites(world);
compact();
answerOrders<SeedProcess>(
  { kubeconfig },
  {
    ...{ openDoors, report },
    probes: () => shoots.map(({ api }) => api.kube.counts.total({ verb: 'list', resource: 'leases' })),
    cut: () => forEachShoot((shoot) => shoot.cutKubelets()),
    restore: () => forEachShoot((shoot) => shoot.restoreKubelets()),
  },
);
