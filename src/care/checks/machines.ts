import { findCondition } from '../../gardener/condition.ts';
import type { MachineDeploymentHealth } from '../../gardener/machine-deployment.ts';
import {
  type MachineCounts,
  type ScalingProblem,
  countMachines,
  scaleDownProblem,
  scaleUpProblem,
} from '../../gardener/machine-scaling.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { WorkerNode } from '../../gardener/node.ts';
import { type Finding, failed, ifRead } from './finding.ts';
import type { SeedObservation } from './observation.ts';

interface Fleet {
  readonly counts: MachineCounts;
  readonly machines: readonly Machine[];
  readonly nodes: readonly WorkerNode[];
  readonly rolling: boolean;
}

const isProgressing = ({ conditions }: MachineDeploymentHealth): boolean => {
  const progressing = findCondition(conditions, 'Progressing');
  return progressing?.status === 'True' && progressing.reason !== 'NewMachineSetAvailable';
};

/** True if a MachineDeployment before the first one with failed machines is rolling out. After that one, the failed machines are the problem. */
const isRolling = (deployments: readonly MachineDeploymentHealth[]): boolean => {
  const failing = deployments.findIndex(({ failedMachines }) => failedMachines.length > 0);
  return deployments.slice(0, failing === -1 ? undefined : failing).some(isProgressing);
};

const findingOf = (reason: string, problem: ScalingProblem | undefined): Finding | undefined =>
  problem === undefined ? undefined : failed(reason, problem.text);

const fleetFinding = ({ counts, machines, nodes, rolling }: Fleet): Finding | undefined => {
  const { desired, registered, ready } = counts;
  if (registered === desired && ready === desired) return undefined;
  const reason = !rolling && registered < desired ? 'NodesScalingUp' : 'NodesRollOutScalingUp';
  const isScaledUp = rolling || registered < desired || ready < desired;
  return (
    (isScaledUp ? findingOf(reason, scaleUpProblem(counts, machines)) : undefined) ??
    findingOf('NodesScalingDown', scaleDownProblem(counts, nodes, machines))
  );
};

/** Compares the nodes of the shoot with its machines and their desired number. */
export const machineFinding = (seed: SeedObservation, nodes: readonly WorkerNode[]): Finding | undefined =>
  ifRead(seed.machineDeployments, (deployments) =>
    ifRead(seed.machines, (machines) =>
      fleetFinding({
        counts: countMachines(deployments, nodes),
        machines,
        nodes,
        rolling: isRolling(deployments),
      }),
    ),
  );
