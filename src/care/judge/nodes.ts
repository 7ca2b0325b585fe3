import type { WorkerPool } from '../../gardener/care-shoots.ts';
import type { MachineDeploymentHealth } from '../../gardener/machine-deployment.ts';
import {
  type ScalingProblem,
  countMachines,
  scaleDownProblem,
  scaleUpProblem,
} from '../../gardener/machine-scaling.ts';
import type { NodeHealth } from '../../gardener/node.ts';
import type { Finding } from '../../gardener/shoot-conditions.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import { type Lease, expiryByTimestampMs } from '../../kubernetes/api/lease.ts';
import { failed, firstFinding, ifRead } from './finding.ts';
import { kubeletVersionState } from './kubelet-version.ts';
import type { CheckInput, SeedObservation } from './observation.ts';

/** Problems of a node that the user's configuration causes. */
const configurationProblem = /KubeletHasInsufficientMemory|KubeletHasDiskPressure|KubeletHasInsufficientPID/i;
/** Share of expired leases, in percent, from which the prober may be about to scale down. */
const alarmingPercent = 20;

const kubeletFinding = (
  { meta, kubeletVersion }: NodeHealth,
  { kubernetesVersion }: WorkerPool,
): Finding | undefined => {
  const name = goQuote(meta.name);
  switch (kubeletVersionState(kubeletVersion, kubernetesVersion)) {
    case 'fits':
      return undefined;
    case 'mismatch': {
      const mismatch = `does not match the desired Kubernetes version (v${kubernetesVersion})`;
      return failed('KubeletVersionMismatch', `The kubelet version for node ${name} (${kubeletVersion}) ${mismatch}`);
    }
    case 'unreadable': {
      // The text of Masterminds/semver.
      const error = `improper constraint: ${goQuote(`~ ${kubeletVersion}`)}`;
      const text = `Error checking for same major minor Kubernetes version for node ${name}: ${error}`;
      return failed('VersionParseError', text);
    }
  }
};

const nodeFinding = (node: NodeHealth, pool: WorkerPool): Finding | undefined => {
  const { problem } = node;
  if (problem === undefined) return kubeletFinding(node, pool);
  const codes = configurationProblem.test(problem) ? ['ERR_CONFIGURATION_PROBLEM'] : undefined;
  const text = `Node ${goQuote(node.meta.name)} in worker group ${goQuote(pool.name)} is unhealthy: ${problem}`;
  return failed('NodeUnhealthy', text, codes);
};

const poolFinding = (pool: WorkerPool, all: readonly NodeHealth[]): Finding | undefined => {
  const nodes = all.filter((node) => node.pool === pool.name);
  const finding = firstFinding(nodes, (node) => nodeFinding(node, pool));
  if (finding !== undefined || nodes.length >= pool.minimum) return finding;
  const counts = `(${nodes.length}/${pool.minimum})`;
  const text = `Not enough worker nodes registered in worker pool ${goQuote(pool.name)} to meet minimum desired machine count. ${counts}.`;
  return failed('MissingNodes', text);
};

/** True if a MachineDeployment before the first one with failed machines is rolling out. After that one, the failed machines are the problem. */
const isRolling = (deployments: readonly MachineDeploymentHealth[]): boolean => {
  const failing = deployments.findIndex(({ failedMachines }) => failedMachines.length > 0);
  return deployments.slice(0, failing === -1 ? undefined : failing).some(({ rollingOut }) => rollingOut);
};

const scalingFinding = (reason: string, problem: ScalingProblem | undefined): Finding | undefined =>
  problem && failed(reason, problem.text);

/** Compares the nodes of the shoot with its machines and their desired number. */
const machineFinding = (seed: SeedObservation, nodes: readonly NodeHealth[]): Finding | undefined =>
  ifRead(seed.machineDeployments, (deployments) =>
    ifRead(seed.machines, (machines) => {
      const counts = countMachines(deployments, nodes);
      const reason =
        !isRolling(deployments) && counts.registered < counts.desired ? 'NodesScalingUp' : 'NodesRollOutScalingUp';
      return (
        scalingFinding(reason, scaleUpProblem(counts, machines)) ??
        scalingFinding('NodesScalingDown', scaleDownProblem(counts, nodes, machines))
      );
    }),
  );

const leaseFinding = (leases: readonly Lease[], nodes: readonly NodeHealth[], now: number): Finding | undefined => {
  const known = new Set(nodes.map(({ meta }) => meta.name));
  const expired = leases.filter((lease) => known.has(lease.name) && expiryByTimestampMs(lease) < now).length;
  const percent = leases.length === 0 ? 0 : Math.floor((100 * expired) / leases.length);
  if (percent < alarmingPercent) return undefined;
  const text = `${percent}% of all Leases in kube-node-lease namespace are expired - dependency-watchdog-prober might start scaling down controllers`;
  return failed('TooManyExpiredNodeLeases', text);
};

/** Checks the nodes of each pool, then their machines, then their leases. Nodes without a pool are ignored. */
export const nodesFinding = ({ view, seed, shoot, now }: CheckInput): Finding | undefined => {
  if (view.kind !== 'observed') return undefined;
  return ifRead(view.nodes, (all) => {
    const nodes = all.filter(({ pool }) => pool !== undefined);
    return (
      firstFinding(shoot.pools, (pool) => poolFinding(pool, nodes)) ??
      machineFinding(seed, nodes) ??
      ifRead(view.leases, (leases) => leaseFinding(leases, nodes, now))
    );
  });
};
