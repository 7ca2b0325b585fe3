import { type MachineDeploymentHealth, listMachineDeploymentHealth } from '../gardener/machine-deployment.ts';
import { type ScalingProblem, countMachines, scaleDownProblem, scaleUpProblem } from '../gardener/machine-scaling.ts';
import { type Machine, listMachines } from '../gardener/machine.ts';
import { type NodeHealth, listNodeHealth } from '../gardener/node.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import type { Check, CheckResult } from './check.ts';

/** Options of `workerNodesCheck`. */
export interface WorkerNodesOptions {
  /** How long new machines may take to join the cluster, in milliseconds. Default 5 min. */
  readonly scaleUpThresholdMs?: number;
  /** How long nodes may take to drain, in milliseconds. Default 15 min. */
  readonly scaleDownThresholdMs?: number;
}

const defaultScaleUpMs = 300_000;
const defaultScaleDownMs = 900_000;

interface Machinery {
  readonly deployments: readonly MachineDeploymentHealth[];
  readonly machines: readonly Machine[];
  readonly nodes: readonly NodeHealth[];
}

/**
 * Returns a check that compares the machines of the control-plane namespace with the nodes of the shoot. It is False if a machine failed, a MachineDeployment
 * is unhealthy, or nodes are missing or too many. It is Progressing while a MachineDeployment is unavailable and its machines are being created, and while
 * nodes are being drained. Problems have the precedence of gardener's `extensions/pkg/controller/healthcheck/worker/nodes.go`.
 */
export const workerNodesCheck = (options: WorkerNodesOptions = {}): Check => {
  const { scaleUpThresholdMs = defaultScaleUpMs, scaleDownThresholdMs = defaultScaleDownMs } = options;
  const thresholds = { scaleUpThresholdMs, scaleDownThresholdMs };
  return async ({ extension, seed, shoot, signal }) => {
    const namespace = extension.controlPlane;
    const readNodes = async (): Promise<readonly NodeHealth[]> =>
      (await (await shoot()).call(listNodeHealth, { signal })).value;
    const [deployments, machines, nodes] = await Promise.all([
      seed.call(listMachineDeploymentHealth(namespace), { signal }),
      seed.call(listMachines(namespace), { signal }),
      readNodes(),
    ]);
    return judge({ deployments: deployments.value, machines: machines.value, nodes }, thresholds);
  };
};

const judge = (
  machinery: Machinery,
  { scaleUpThresholdMs, scaleDownThresholdMs }: Required<WorkerNodesOptions>,
): CheckResult => {
  const { deployments, machines, nodes } = machinery;
  const counts = countMachines(deployments, nodes);
  const isShort = deployments.some(({ unavailable }) => unavailable);
  return (
    failedMachine(deployments) ??
    (isShort ? resultOf(scaleUpProblem(counts, machines), scaleUpThresholdMs) : undefined) ??
    unhealthyDeployment(deployments) ??
    resultOf(scaleDownProblem(counts, nodes, machines), scaleDownThresholdMs) ?? { status: 'True' }
  );
};

const failedMachine = (deployments: readonly MachineDeploymentHealth[]): CheckResult | undefined => {
  const [failed] = deployments.flatMap(({ failedMachines }) => failedMachines);
  if (failed === undefined) return undefined;
  return { status: 'False', detail: `machine ${goQuote(failed.name)} failed: ${failed.description}` };
};

const unhealthyDeployment = (deployments: readonly MachineDeploymentHealth[]): CheckResult | undefined => {
  const found = deployments.find(({ problem }) => problem !== undefined);
  if (found?.problem === undefined) return undefined;
  const { name, namespace } = found.meta;
  const what = `machine deployment ${goQuote(name)} in namespace ${goQuote(namespace)}`;
  return { status: 'False', detail: `${what} is unhealthy: ${found.problem}` };
};

const resultOf = (problem: ScalingProblem | undefined, progressingThresholdMs: number): CheckResult | undefined => {
  if (problem === undefined) return undefined;
  const { text: detail, underWay } = problem;
  return underWay ? { status: 'Progressing', detail, progressingThresholdMs } : { status: 'False', detail };
};
