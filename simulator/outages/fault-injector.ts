import type { Clock } from '../../src/ports/clock.ts';
import { simKinds } from '../apiserver/index.ts';
import { createSeededRandom } from '../time/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import type { Fault, Plan, PlannedFault } from './plan.ts';
import { createPodFaultInjector } from './pod-faults.ts';
import type { Processes } from './processes.ts';
import {
  autoscale,
  disown,
  editEmbedded,
  failMachines,
  setCounts,
  setIgnoreScaling,
  sicken,
  skewNodes,
} from './shoot-edits.ts';
import type { End, Ways } from './way-faults.ts';

export interface FaultInjectorOptions {
  readonly plan: Plan;
  readonly world: World;
  readonly clock: Clock;
  readonly ways: Ways;
  readonly processes: Processes;
}

export interface FaultInjector {
  /** Resolves with what ends the fault. A fault about what a plan has not (any more) does nothing. */
  begin(planned: PlannedFault): End;
}

const nothing: End = () => undefined;
/** How long Gardener takes to scale a hibernated shoot's control plane down, and to call one awake whose control plane is up again. */
const hibernateMs = 3_000;
const wakeMs = 10_000;

type Cut = Extract<Fault, { kind: 'load-balancer' | 'nat-gateway' | 'public-way' }>;
type OfPods = 'crash' | 'second-slice' | 'no-slices' | 'stray-pod';
type OfShoot = Exclude<Extract<Fault, { readonly shoot: string }>, Cut | { readonly kind: OfPods }>;

export const createFaultInjector = (options: FaultInjectorOptions): FaultInjector => {
  const { plan, world, clock, ways, processes } = options;
  const random = createSeededRandom(plan.seed).fork('troubles');
  const pods = createPodFaultInjector(world, clock);
  const cuts = new Set<Cut>();
  const offsets = new Map<string, number>();
  for (const { store } of world.shoots) skewNodes(store, (node) => offsets.get(node) ?? 0);

  const nodesOf = ({ store }: WorldShoot, numbers: readonly number[]): readonly string[] => {
    const nodes = store.list(simKinds.Node);
    return numbers.flatMap((number) => nodes[number]?.metadata.name ?? []);
  };

  const applyCuts = (): void => {
    for (const shoot of world.shoots) {
      shoot.restoreKubelets();
      let way: 'open' | 'refused' | 'silent' = 'open';
      for (const cut of cuts) {
        if ((cut.shoot ?? shoot.name) !== shoot.name) continue;
        if (cut.kind === 'load-balancer') shoot.cutKubelets();
        if (cut.kind === 'nat-gateway') shoot.cutKubelets(nodesOf(shoot, cut.nodes));
        else way = cut.how;
      }
      shoot.api.publicWay.setReachability(way);
    }
  };

  const cut = (fault: Cut): End => {
    cuts.add(fault);
    applyCuts();
    return () => {
      cuts.delete(fault);
      applyCuts();
    };
  };

  const skew = (shoot: WorldShoot, fault: Extract<Fault, { kind: 'node-clock' }>): End => {
    const nodes = nodesOf(shoot, fault.nodes);
    for (const node of nodes) offsets.set(node, fault.ms);
    return () => {
      for (const node of nodes) offsets.delete(node);
    };
  };

  const spoilCredentials = (shoot: WorldShoot, { how }: Extract<Fault, { kind: 'credentials' }>): End => {
    const secret = world.store.list(simKinds.Secret, shoot.namespace)[0];
    if (how === 'expired' || how === 'rotated') shoot.api.rotateToken();
    if (how === 'rotated') shoot.publishKubeconfig();
    if (how === 'broken') shoot.publishKubeconfig('{"clusters": [');
    if (how === 'missing' && secret !== undefined) world.store.remove(simKinds.Secret, secret.metadata);
    return () => {
      if (how === 'missing' && secret !== undefined) world.store.put(simKinds.Secret, secret);
      shoot.publishKubeconfig();
    };
  };

  const hibernate = (shoot: WorldShoot): End => {
    const before = countsOf(world, shoot, plan);
    const setEnabled = (enabled: boolean): void =>
      editEmbedded(world, shoot, (old) => ({ ...old, spec: { ...old.spec, hibernation: { enabled } } }));
    const setHibernated = (hibernated: boolean): void =>
      editEmbedded(world, shoot, (old) => ({ ...old, status: { ...old.status, hibernated } }));
    setEnabled(true);
    const zeros = Object.fromEntries(Object.keys(before).map((name) => [name, 0]));
    const cancel = clock.timer(hibernateMs, () => {
      setCounts(world, shoot, zeros);
      setHibernated(true);
    });
    return () => {
      cancel();
      setCounts(world, shoot, before);
      setEnabled(false);
      clock.timer(wakeMs, () => setHibernated(false));
    };
  };

  const removeWorkers = (shoot: WorldShoot): End => {
    let workers: readonly unknown[] | undefined;
    const setWorkers = (next: readonly unknown[]): void =>
      editEmbedded(world, shoot, (old) => {
        workers ??= old.spec.provider.workers ?? [];
        return { ...old, spec: { ...old.spec, provider: { ...old.spec.provider, workers: next } } };
      });
    setWorkers([]);
    return () => setWorkers(workers ?? []);
  };

  const repeat = (shoot: WorldShoot, { deployment, everyMs }: Extract<Fault, { kind: 'autoscaler' }>): End => {
    let cancel: () => void;
    const step = (): void => {
      autoscale(world, shoot, { deployment, replicas: 1 + random.integer(4) });
      cancel = clock.timer(everyMs, step);
    };
    step();
    return () => cancel();
  };

  const beginInShoot = (shoot: WorldShoot, fault: OfShoot): End => {
    switch (fault.kind) {
      case 'node-clock':
        return skew(shoot, fault);
      case 'credentials':
        return spoilCredentials(shoot, fault);
      case 'autoscaler':
        return repeat(shoot, fault);
      case 'ignore-scaling': {
        const { deployment } = fault;
        setIgnoreScaling(world, shoot, { deployment, value: 'true' });
        return () => setIgnoreScaling(world, shoot, { deployment, value: undefined });
      }
      case 'hibernation':
        return hibernate(shoot);
      case 'deletion':
        editEmbedded(world, shoot, (old) => {
          const deletionTimestamp = new Date(clock.now()).toISOString();
          return { ...old, metadata: { ...old.metadata, deletionTimestamp } };
        });
        return nothing;
      case 'no-workers':
        return removeWorkers(shoot);
      case 'cluster-gone':
        world.store.remove(simKinds.Cluster, { name: shoot.namespace });
        return nothing;
      case 'not-candidates':
        if (fault.how === 'unmanaged') return disown(shoot, fault.nodes);
        if (fault.how === 'unhealthy') return sicken(shoot, fault.nodes);
        failMachines(world, shoot, fault.nodes);
        return nothing;
    }
  };

  const beginWithReplica = (fault: Extract<Fault, { kind: 'watchdog-clock' | 'kill' | 'stop' | 'pause' }>): End => {
    const { replica } = fault;
    switch (fault.kind) {
      case 'watchdog-clock':
        processes.setWallOffset(replica, fault.ms);
        return () => processes.setWallOffset(replica, 0);
      case 'kill':
        processes.kill(replica);
        return () => processes.restart(replica);
      case 'stop':
        processes.stop(replica);
        return () => processes.restart(replica);
      case 'pause':
        processes.pause(replica);
        return () => processes.resume(replica);
    }
  };

  const begin = (fault: Fault): End => {
    switch (fault.kind) {
      case 'api-server':
      case 'partition':
      case 'dns':
      case 'lost-answers':
      case 'compaction':
        return ways.disturb(fault);
      case 'watchdog-clock':
      case 'kill':
      case 'stop':
      case 'pause':
        return beginWithReplica(fault);
      case 'api-server-clock': {
        const server = world.shoots.find(({ name }) => name === fault.server)?.api.server;
        server?.setClockSkew(fault.ms);
        return () => server?.setClockSkew(0);
      }
      case 'reload':
        processes.configure(fault.settings);
        return () => processes.configure(undefined);
      case 'load-balancer':
      case 'nat-gateway':
      case 'public-way':
        return cut(fault);
      case 'etcd':
      case 'crash':
      case 'second-slice':
      case 'no-slices':
      case 'stray-pod':
        return pods.begin(fault);
      case 'node-clock':
      case 'credentials':
      case 'autoscaler':
      case 'ignore-scaling':
      case 'hibernation':
      case 'deletion':
      case 'no-workers':
      case 'cluster-gone':
      case 'not-candidates': {
        const shoot = world.shoots.find(({ name }) => name === fault.shoot);
        return shoot === undefined ? nothing : beginInShoot(shoot, fault);
      }
    }
  };

  return { begin: ({ fault }) => begin(fault) };
};

/** Counts that Gardener goes back to: those of now, or of the plan where one is at 0. */
const countsOf = ({ store }: World, shoot: WorldShoot, plan: Plan): Readonly<Record<string, number>> => {
  const planned = plan.shoots.find(({ name }) => name === shoot.name)?.replicas ?? {};
  const deployments = store.list(simKinds.Deployment, shoot.namespace);
  return Object.fromEntries(
    deployments.map(({ metadata, spec }) => {
      const { replicas = 1 } = spec as { readonly replicas?: number };
      return [metadata.name, replicas > 0 ? replicas : (planned[metadata.name] ?? 1)];
    }),
  );
};
