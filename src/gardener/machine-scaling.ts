import { goQuote } from '../kubernetes/api/go-quote.ts';
import type { MachineDeploymentHealth } from './machine-deployment.ts';
import type { Machine } from './machine.ts';
import type { NodeHealth } from './node.ts';

export interface MachineCounts {
  /** Replicas of all MachineDeployments that are not being deleted. */
  readonly desired: number;
  /** Nodes that machine-controller-manager manages. */
  readonly registered: number;
  /** Managed nodes that are schedulable and Ready. */
  readonly ready: number;
}

export const countMachines = (
  deployments: readonly MachineDeploymentHealth[],
  nodes: readonly NodeHealth[],
): MachineCounts => {
  const managed = nodes.filter(({ managedByMcm }) => managedByMcm);
  return {
    desired: deployments.reduce((sum, { meta, replicas }) => sum + (meta.deleting ? 0 : replicas), 0),
    registered: managed.length,
    ready: managed.filter(({ unschedulable, ready }) => !unschedulable && ready).length,
  };
};

/** The reason why there are too few or too many nodes. */
export interface ScalingProblem {
  readonly text: string;
  /** True if machines are being created or deleted as expected, and only need time. */
  readonly underWay: boolean;
}

const machinesAre = (count: number): string => `${count} ${count === 1 ? 'machine is' : 'machines are'}`;
const drainAdvice =
  'If this persists, check your pod disruption budgets and pending finalizers. Please note, that nodes that fail to be drained will be deleted automatically';
const stuck = (text: string): ScalingProblem => ({ text, underWay: false });

/** Phases of a running machine, and of a machine that is being created. A machine in any other phase is erroneous. */
const runningPhases = ['Running', 'Available'];
const pendingPhases = ['Pending', ''];

/** Returns why a scale-up is not complete, or undefined if enough nodes are ready. */
export const scaleUpProblem = (
  { desired, ready }: MachineCounts,
  machines: readonly Machine[],
): ScalingProblem | undefined => {
  if (ready >= desired) return undefined;
  if (machines.length < desired) return stuck(`not enough machine objects created yet (${machines.length}/${desired})`);
  const pending = machines.filter(({ phase }) => pendingPhases.includes(phase)).length;
  const running = machines.filter(({ phase }) => runningPhases.includes(phase)).length;
  const erroneous = machines.length - pending - running;
  if (erroneous > 0) return stuck(`${machinesAre(erroneous)} erroneous`);
  if (pending === 0) return stuck(`not enough ready worker nodes registered in the cluster (${ready}/${desired})`);
  return { text: `${machinesAre(pending)} provisioning and should join the cluster soon`, underWay: true };
};

/** Returns why a scale-down is not complete, or undefined if there are not too many nodes. */
export const scaleDownProblem = (
  { desired, registered }: MachineCounts,
  nodes: readonly NodeHealth[],
  machines: readonly Machine[],
): ScalingProblem | undefined => {
  if (registered <= desired) return undefined;
  const machineOf = new Map(machines.map((machine) => [machine.node, machine]));
  const cordoned = nodes.filter((node) => node.managedByMcm && node.unschedulable);
  for (const { meta } of cordoned) {
    const machine = machineOf.get(meta.name);
    const name = goQuote(meta.name);
    if (machine === undefined) return stuck(`machine object for cordoned node ${name} not found`);
    if (!machine.deleting) {
      const lacks = 'found but corresponding machine object does not have a deletion timestamp';
      return stuck(`cordoned node ${name} ${lacks}`);
    }
  }
  if (registered - cordoned.length > desired) {
    const tooMany = 'too many worker nodes are registered. Exceeding maximum desired machine count';
    return stuck(`${tooMany} (${registered}/${desired})`);
  }
  return {
    text: `${machinesAre(cordoned.length)} waiting to be completely drained from pods. ${drainAdvice}`,
    underWay: true,
  };
};
