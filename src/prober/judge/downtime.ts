import { type LeaseObservation, resetAges } from './lease-history.ts';
import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { isOurFault } from './own-fault.ts';
import type { ApiServerView } from './probe-input.ts';
import type { ProbeMemory, UnreachableSpell } from './probe-memory.ts';
import type { Downtime, DowntimeEvidence, ReadError } from './verdict.ts';

// While the API server of a shoot is down nobody can renew a lease; when it is back, all of them are old. But that we do not reach it does not say that it is
// down: docs/adr/0014-downtime-and-late-answers.md.

/** KCM loses its own leader lease within this, and starts its timers anew afterwards. */
export const downtimeMs = 15_000;
/** After a spell in which only we were cut off: from the first list that came through to the one that may scale down. */
const confirmAfterSpellMs = 5_000;

const failedCodes: ReadonlySet<ApiErrorCode> = new Set(['TooManyRequests', 'ServerError', 'MalformedResponse']);

/**
 * What a run without a list of leases shows: the API server was reached and `failed`, we were `unconnected`, or that for a fault that is `ours`. Undefined: it
 * has answered as it should (401, 403), or was not asked at all.
 */
const showing = (error: ReadError): 'failed' | 'unconnected' | 'ours' | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  if (failedCodes.has(error.code)) return 'failed';
  if (error.code !== 'ConnectionError' && error.code !== 'Timeout') return undefined;
  if (isOurFault(error)) return 'ours';
  return error.fault.phase === 'connecting' ? 'unconnected' : 'failed';
};

/** Takes in a run, begun at `startedAt`, that got no list of leases. */
export const lengthenSpell = (memory: ProbeMemory, startedAt: number, error: ReadError): ProbeMemory => {
  const { unreachable = { since: startedAt, failed: false, unconnected: false, ours: false } } = memory;
  const shown = showing(error);
  return { ...memory, unreachable: shown === undefined ? unreachable : { ...unreachable, [shown]: true } };
};

const wasUnavailableSince = ({ unavailable }: ApiServerView, since: number): boolean =>
  unavailable !== undefined && (unavailable.until ?? Number.POSITIVE_INFINITY) >= since;

const evidenceOf = (
  { since, failed, unconnected }: UnreachableSpell,
  view: ApiServerView,
): DowntimeEvidence | undefined => {
  if (failed) return 'answers';
  if (wasUnavailableSince(view, since)) return 'no-available-replica';
  const { knownSince = Number.POSITIVE_INFINITY } = view;
  return unconnected && knownSince > since ? 'assumed' : undefined;
};

export interface AfterDowntime {
  readonly memory: ProbeMemory;
  /** What the leases are given their time again for. */
  readonly downtime?: Downtime;
}

/** What a list of leases that came through ends: a spell of ours, a doubt, or a time without available replicas that no run of ours has met. */
export const endDowntime = (memory: ProbeMemory, observation: LeaseObservation, view: ApiServerView): AfterDowntime => {
  const ended = endSpell(endDoubt(memory, observation, view), observation, view);
  const from = Math.max(view.unavailable?.since ?? Number.POSITIVE_INFINITY, memory.history.lastObservedAt ?? never);
  const to = Math.min(view.unavailable?.until ?? Number.POSITIVE_INFINITY, observation.endedAt);
  if (to <= from || to <= ended.memory.history.notOlderThan) return ended;
  if (to - from < downtimeMs) {
    const downUntil = Math.max(ended.memory.downUntil ?? never, to);
    return { ...ended, memory: { ...ended.memory, downUntil } };
  }
  return {
    memory: reset(ended.memory, to),
    downtime: ended.downtime ?? { evidence: 'no-available-replica', ms: to - from },
  };
};

const never = Number.NEGATIVE_INFINITY;

const reset = (memory: ProbeMemory, at: number): ProbeMemory => ({
  ...memory,
  history: resetAges(memory.history, at),
  downUntil: Math.max(memory.downUntil ?? never, at),
});

const endSpell = (
  { memory, downtime }: AfterDowntime,
  observation: LeaseObservation,
  view: ApiServerView,
): AfterDowntime => {
  const { unreachable, ...rest } = memory;
  const known = downtime === undefined ? {} : { downtime };
  if (unreachable === undefined) return { memory: rest, ...known };
  const until = observation.endedAt;
  const ms = until - unreachable.since;
  const evidence = evidenceOf(unreachable, view);
  if (evidence !== undefined) {
    if (ms < downtimeMs) return { memory: { ...rest, downUntil: until }, ...known };
    return { memory: reset(rest, until), downtime: { evidence, ms } };
  }
  const isDoubtful = ms >= downtimeMs && (unreachable.unconnected || unreachable.ours);
  return { memory: isDoubtful ? { ...rest, doubt: { since: unreachable.since, until } } : rest, ...known };
};

/** A watch may lag: that there was no available replica may come to light after the API server has. */
const endDoubt = (memory: ProbeMemory, observation: LeaseObservation, view: ApiServerView): AfterDowntime => {
  const { doubt, ...rest } = memory;
  if (doubt === undefined) return { memory };
  const { since, until } = doubt;
  const isRefuted = view.unavailable !== undefined && view.unavailable.since <= until;
  if (isRefuted && wasUnavailableSince(view, since)) {
    return { memory: reset(rest, until), downtime: { evidence: 'no-available-replica', ms: until - since } };
  }
  return { memory: observation.startedAt >= until + confirmAfterSpellMs ? rest : memory };
};

/** Monotonic instant before which no list of leases may scale anything down; undefined: any may. */
export const confirmableAt = ({ doubt }: ProbeMemory): number | undefined => doubt && doubt.until + confirmAfterSpellMs;
