import { type SimObject, type SimStore, formatTime, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import type { Fleet } from './fleet.ts';
import { conditionsOf } from './nodes.ts';
import { machineObject } from './objects.ts';
import { withStatus } from './workloads.ts';

type Deps = Omit<ActorDeps, 'random'>;

export interface MachineControllerInit {
  /** The shoot's namespace in the seed, whose store is in the deps. */
  readonly namespace: string;
  readonly shoot: SimStore;
  /** Path to the shoot's API server. */
  readonly path: PathToServer;
  readonly fleet: Fleet;
  readonly onReplaced: () => void;
}

/** MCM's default `--node-conditions`: a status other than False means unhealthy, Unknown included. */
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

/**
 * MCM's health check: a machine whose node is not healthy becomes Unknown, after its health timeout Failed, and is then replaced, one at a
 * time. The timeout runs from a time in the Machine's status, so that it survives a restart of MCM.
 * https://github.com/gardener/machine-controller-manager/blob/master/pkg/util/provider/machinecontroller/machine_util.go
 */
class MachineController {
  readonly #deps: Deps;
  readonly #init: MachineControllerInit;

  constructor(deps: Deps, init: MachineControllerInit) {
    this.#deps = deps;
    this.#init = init;
  }

  checkAll(): void {
    for (const machine of this.#machines()) this.#check(machine);
  }

  #machines(): readonly SimObject[] {
    return this.#deps.store.list(simKinds.Machine, this.#init.namespace);
  }

  #check(machine: SimObject): void {
    const phase = phaseOf(machine);
    if (phase === 'Failed') {
      this.#replace(machine);
      return;
    }
    const healthy = isHealthy(this.#init.shoot.get(simKinds.Node, { name: machine.metadata.name }));
    if (healthy && phase !== 'Running') this.#setPhase(machine, 'Running');
    if (healthy || phase === 'Pending') return;
    const { clock, timing } = this.#deps;
    const isOverdue = clock.now() - sinceOf(machine) > timing.machineHealthTimeoutMs;
    if (phase === 'Running') this.#setPhase(machine, 'Unknown');
    else if (isOverdue && !this.#isOneInProgress()) this.#setPhase(machine, 'Failed');
  }

  #setPhase({ metadata }: SimObject, phase: string): void {
    const currentStatus = { phase, lastUpdateTime: formatTime(this.#deps.clock.now()) };
    this.#deps.store.patch(simKinds.Machine, metadata, (old) => withStatus(old, { currentStatus }));
  }

  #isOneInProgress(): boolean {
    return this.#machines().some((machine) => !['Running', 'Unknown'].includes(phaseOf(machine)));
  }

  #replace(machine: SimObject): void {
    const { clock, timing, store } = this.#deps;
    const { namespace, fleet, onReplaced } = this.#init;
    fleet.destroy(machine.metadata.name);
    store.remove(simKinds.Machine, machine.metadata);
    onReplaced();
    const name = fleet.nameFor();
    store.put(simKinds.Machine, machineObject({ namespace, name, phase: 'Pending', since: clock.now() }));
    fleet.start(name, timing.machineJoinMs);
  }
}

export const startMachineController = (deps: Deps, init: MachineControllerInit): (() => void) => {
  const controller = new MachineController(deps, init);
  return startLoop(deps.clock, 0, () => {
    // MCM freezes while it cannot reach the API server (machine_safety.go).
    if (init.path() === 'open') controller.checkAll();
    return deps.timing.machineCheckMs;
  });
};
