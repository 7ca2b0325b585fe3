import type { WorkerPool } from '../../gardener/care-shoots.ts';
import { kubeletVersionState } from './kubelet-version.ts';
import { type WorkerNode, nodeProblem } from '../../gardener/node.ts';
import { goQuote } from '../../kubernetes/api/go-quote.ts';
import { type Lease, expiryByTimestampMs } from '../../kubernetes/api/lease.ts';
import { extensionFinding } from './extensions.ts';
import { type Finding, failed, healthy, ifRead } from './finding.ts';
import { machineFinding } from './machines.ts';
import type { CheckInput } from './observation.ts';
import { unreachableFinding } from './unreachable.ts';

const type = 'EveryNodeReady';
/** Problems of a node that the user's configuration causes. */
const configurationProblem = /KubeletHasInsufficientMemory|KubeletHasDiskPressure|KubeletHasInsufficientPID/i;
/** Share of expired leases, in percent, from which the prober may be about to scale down. */
const alarmingPercent = 20;

const kubeletFinding = (
  { meta, kubeletVersion }: WorkerNode,
  { kubernetesVersion }: WorkerPool,
): Finding | undefined => {
  const state = kubeletVersionState(kubeletVersion, kubernetesVersion);
  const name = goQuote(meta.name);
  switch (state.kind) {
    case 'fits':
      return undefined;
    case 'mismatch': {
      const mismatch = `does not match the desired Kubernetes version (v${kubernetesVersion})`;
      return failed('KubeletVersionMismatch', `The kubelet version for node ${name} (${kubeletVersion}) ${mismatch}`);
    }
    case 'unreadable': {
      const text = `Error checking for same major minor Kubernetes version for node ${name}: ${state.error}`;
      return failed('VersionParseError', text);
    }
  }
};

const nodeFinding = (node: WorkerNode, pool: WorkerPool): Finding | undefined => {
  const problem = nodeProblem(node);
  if (problem === undefined) return kubeletFinding(node, pool);
  const codes = configurationProblem.test(problem) ? ['ERR_CONFIGURATION_PROBLEM'] : [];
  const text = `Node ${goQuote(node.meta.name)} in worker group ${goQuote(pool.name)} is unhealthy: ${problem}`;
  return failed('NodeUnhealthy', text, codes);
};

const poolFinding = (pool: WorkerPool, all: readonly WorkerNode[]): Finding | undefined => {
  const nodes = all.filter((node) => node.pool === pool.name);
  for (const node of nodes) {
    const finding = nodeFinding(node, pool);
    if (finding !== undefined) return finding;
  }
  if (nodes.length >= pool.minimum) return undefined;
  const counts = `(${nodes.length}/${pool.minimum})`;
  const text = `Not enough worker nodes registered in worker pool ${goQuote(pool.name)} to meet minimum desired machine count. ${counts}.`;
  return failed('MissingNodes', text);
};

const leaseFinding = (leases: readonly Lease[], nodes: readonly WorkerNode[], now: number): Finding | undefined => {
  const known = new Set(nodes.map(({ meta }) => meta.name));
  const expired = leases.filter((lease) => known.has(lease.name) && expiryByTimestampMs(lease) < now).length;
  const percent = leases.length === 0 ? 0 : Math.floor((100 * expired) / leases.length);
  if (percent < alarmingPercent) return undefined;
  const text = `${percent}% of all Leases in kube-node-lease namespace are expired - dependency-watchdog-prober might start scaling down controllers`;
  return failed('TooManyExpiredNodeLeases', text);
};

const firstPoolFinding = (pools: readonly WorkerPool[], nodes: readonly WorkerNode[]): Finding | undefined => {
  for (const pool of pools) {
    const finding = poolFinding(pool, nodes);
    if (finding !== undefined) return finding;
  }
  return undefined;
};

const shootFinding = (input: CheckInput): Finding | undefined => {
  const { view, seed, shoot, now } = input;
  if (view.kind !== 'observed') return unreachableFinding(input);
  return ifRead(view.nodes, (all) => {
    const nodes = all.filter(({ pool }) => pool !== undefined);
    return (
      firstPoolFinding(shoot.pools, nodes) ??
      machineFinding(seed, nodes) ??
      ifRead(view.leases, (leases) => leaseFinding(leases, nodes, now))
    );
  });
};

/** Checks EveryNodeReady of a shoot with workers. */
export const checkNodes = (input: CheckInput): Finding =>
  unreachableFinding(input) ??
  extensionFinding(input, type) ??
  shootFinding(input) ??
  healthy('EveryNodeReady', 'All nodes are ready.');
