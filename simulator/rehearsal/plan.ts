import type { Result } from '../../src/kubernetes/api/errors.ts';
import type { ProberSettings } from '../../src/prober/index.ts';
import { worldSourceOf } from '../harness/index.ts';
import type { WorldSource } from '../world/index.ts';
import { elsewhere } from './components.ts';
import { type FaultName, type RehearsedFault, rehearsedFaults } from './faults.ts';

/** A rehearsal as the user requests it. */
export interface RehearsalRequest {
  readonly settings: ProberSettings;
  readonly shoots: number;
  /** Number of nodes of each shoot. */
  readonly nodes: number;
  readonly fault: FaultName;
  readonly durationMs: number;
  /** Seed of all random numbers. */
  readonly seed: number;
  /** `--kube-api-qps` and `--kube-api-burst` of the prober. */
  readonly limits: { readonly qps: number; readonly burst: number };
}

export interface RehearsalPlan extends Omit<RehearsalRequest, 'fault'> {
  readonly faultName: FaultName;
  readonly fault: RehearsedFault;
  /** Cluster source of the simulated seed, as the settings require it. */
  readonly source: WorldSource;
  /** Beginning of the outage; like `endsAt` in monotonic milliseconds. */
  readonly beginsAt: number;
  readonly endsAt: number;
}

/** Minimum time before the outage, in milliseconds, so that every shoot has been probed. */
const leastSettlingMs = 60_000;
/** Time from the end of the grace period until KCM has marked every node, in ms: leases differ by up to 10 s in age, and KCM checks every 5 s. */
const reactionMs = 20_000;
/** Maximum number of nodes in all shoots together: a node takes about 60 KB of memory. */
const mostNodes = 50_000;

const inMinutes = (ms: number): string => `${String(Math.ceil(ms / 60_000))}m`;

/** Plans a rehearsal. The outage begins when the shoots have settled, and takes a third of the duration, which leaves time for the recovery. */
export const planRehearsal = (request: RehearsalRequest): Result<RehearsalPlan, string> => {
  const { settings, fault: faultName, durationMs, shoots, nodes } = request;
  const { probeIntervalMs, backoffJitterFactor, nodeMonitorGraceMs } = settings;
  if (shoots * nodes > mostNodes) {
    return { ok: false, error: `--shoots times --nodes must be at most ${String(mostNodes)}` };
  }
  const beginsAt = Math.max(leastSettlingMs, 3 * probeIntervalMs * (1 + backoffJitterFactor));
  const outageMs = durationMs / 3;
  const leastMs = Math.max(3 * (nodeMonitorGraceMs + reactionMs), beginsAt * 3);
  if (durationMs < leastMs) {
    const error = `--duration must be at least ${inMinutes(leastMs)}: the outage lasts a third of it, which must be longer than KCM's grace period`;
    return { ok: false, error };
  }
  const [other] = elsewhere(settings);
  if (other !== undefined) {
    return { ok: false, error: `${other} is in another namespace than its cluster, which cannot be rehearsed` };
  }
  const fault = rehearsedFaults[faultName];
  const source = worldSourceOf(settings);
  return { ok: true, value: { ...request, faultName, fault, source, beginsAt, endsAt: beginsAt + outageMs } };
};
