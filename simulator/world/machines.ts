import { type SimObject, type SimStore, asMap, formatTime, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type Path, startLoop } from './actor.ts';
import type { Fleet } from './fleet.ts';
import { conditionsOf } from './nodes.ts';
import { machineObject } from './objects.ts';

export interface MachineControllerInit {
  /** The shoot's namespace in the seed, whose store is in the deps. */
  readonly namespace: string;
  readonly shoot: SimStore;
  /** To the shoot's API server. */
  readonly path: Path;
  readonly fleet: Fleet;
  readonly onReplaced: (machine: string) => void;
}

/** Lists of the stores, which stay the same ones until something changes. */
interface Seen {
  readonly machines: readonly SimObject[];
  readonly nodes: readonly SimObject[];
}

/** MCM's default `--node-conditions`: not False means unhealthy, Unknown included. */
const unhealthyConditions: ReadonlySet<string> = new Set([
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'DiskPressure',
  'NetworkUnavailable',
]);

const isHealthy = (node: SimObject | undefined): boolean =>
  node !== undefined &&
  conditionsOf(node).every(({ type, status }) => {
    if (type === 'Ready') return status === 'True';
    return !unhealthyConditions.has(type) || status === 'False';
  });

const phaseOf = (machine: SimObject): string => String(getPath(machine, ['status', 'currentStatus', 'phase']));

const sinceOf = (machine: SimObject): number =>
  Date.parse(String(getPath(machine, ['status', 'currentStatus', 'lastUpdateTime'])));

/** MachineDeployment, and so the pool. */
const setOf = (machine: SimObject): string => String(asMap(machine.metadata.labels).name);

/**
 * MCM's health check: a machine whose node is not healthy becomes Unknown, after its health time-out Failed, and is replaced then; one
 * at a time of each pool. The time-out runs from a time in the Machine's status, so that it outlives MCM.
 * https://github.com/gardener/machine-controller-manager/blob/master/pkg/util/provider/machinecontroller/machine_util.go
 */
export const startMachineController = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  init: MachineControllerInit,
): (() => void) => {
  const { namespace, shoot, path, fleet } = init;

  const setPhase = (machine: SimObject, phase: string): void => {
    store.patch(simKinds.Machine, machine.metadata, (old) => ({
      ...old,
      status: { ...asMap(old.status), currentStatus: { phase, lastUpdateTime: formatTime(clock.now()) } },
    }));
  };

  const isOneInProgress = (set: string): boolean =>
    store
      .list(simKinds.Machine, namespace)
      .some((machine) => setOf(machine) === set && !['Running', 'Unknown'].includes(phaseOf(machine)));

  const replace = (machine: SimObject): void => {
    const { name } = machine.metadata;
    const pool = setOf(machine).slice(namespace.length + 1);
    fleet.destroy(name);
    store.remove(simKinds.Machine, machine.metadata);
    init.onReplaced(name);
    const successor = fleet.nameFor(pool);
    store.put(
      simKinds.Machine,
      machineObject({ namespace, name: successor, pool, phase: 'Pending', since: clock.now() }),
    );
    fleet.start(successor, pool, timing.machineJoinMs);
  };

  /** True for a machine that is well and recorded as such: as long as nothing changes it stays so. */
  const check = (machine: SimObject): boolean => {
    const phase = phaseOf(machine);
    if (phase === 'Failed') {
      replace(machine);
      return false;
    }
    const healthy = isHealthy(shoot.get(simKinds.Node, { name: machine.metadata.name }));
    if (healthy && phase !== 'Running') setPhase(machine, 'Running');
    if (healthy || phase === 'Pending') return healthy && phase === 'Running';
    if (phase === 'Running') setPhase(machine, 'Unknown');
    else if (clock.now() - sinceOf(machine) > timing.machineHealthTimeoutMs && !isOneInProgress(setOf(machine))) {
      setPhase(machine, 'Failed');
    }
    return false;
  };

  /** All machines and nodes when they were all well. */
  let well: Seen | undefined;
  const checkAll = (): void => {
    const seen: Seen = { machines: store.list(simKinds.Machine, namespace), nodes: shoot.list(simKinds.Node) };
    if (well?.machines === seen.machines && well.nodes === seen.nodes) return;
    let areWell = true;
    for (const machine of seen.machines) areWell = check(machine) && areWell;
    well = areWell ? seen : undefined;
  };

  return startLoop(clock, 0, () => {
    // It freezes while it cannot reach the API server (machine_safety.go).
    if (path() === 'open') checkAll();
    return timing.machineCheckMs;
  });
};
