import { type LeaseObservation, resetAges } from './lease-history.ts';
import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { isOurFault } from './own-fault.ts';
import type { ApiServerView } from './probe-input.ts';
import type { ProbeMemory, UnreachableSpell } from './probe-memory.ts';
import type { Downtime, DowntimeEvidence, ReadError } from './verdict.ts';

// While the API server of a shoot is down, no kubelet can renew its lease, and afterwards all leases are old. But an API server that we cannot reach need not
// be down: docs/adr/0014-downtime-and-late-answers.md.

/** Shortest downtime, in milliseconds, that resets the leases: by then KCM has lost its own leader lease, and starts its timers again afterwards. */
export const downtimeMs = 15_000;
/** Time, after a spell in which only we were cut off, from the first successful list to the one that may scale down. */
const confirmAfterSpellMs = 5_000;

const never = Number.NEGATIVE_INFINITY;

const failedCodes: ReadonlySet<ApiErrorCode> = new Set(['TooManyRequests', 'ServerError', 'MalformedResponse']);

/**
 * Classifies the error of a run without a list of leases: the API server was reached and `failed`, no connection was established (`unconnected`), or the
 * fault is `ours`. Undefined: the API server responded properly (401, 403), or no request was sent.
 */
const classifyFailure = (error: ReadError): 'failed' | 'unconnected' | 'ours' | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  if (failedCodes.has(error.code)) return 'failed';
  if (error.code !== 'ConnectionError' && error.code !== 'Timeout') return undefined;
  if (isOurFault(error)) return 'ours';
  return error.fault.phase === 'connecting' ? 'unconnected' : 'failed';
};

/** Enters a run that began at `startedAt` and got no list of leases. */
export const lengthenSpell = (memory: ProbeMemory, startedAt: number, error: ReadError): ProbeMemory => {
  const { unreachableSpell = { since: startedAt, failed: false, unconnected: false, ours: false } } = memory;
  const kind = classifyFailure(error);
  return { ...memory, unreachableSpell: kind === undefined ? unreachableSpell : { ...unreachableSpell, [kind]: true } };
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
  /** The downtime that reset the age of the leases. */
  readonly downtime?: Downtime;
}

/**
 * After a successful list of leases, ends the spell and the unconfirmed spell, and accounts for a time without ready replicas that may lie entirely between
 * two runs.
 */
export const endDowntime = (memory: ProbeMemory, observation: LeaseObservation, view: ApiServerView): AfterDowntime => {
  const ended = endSpell(endUnconfirmedSpell(memory, observation, view), observation, view);
  const { from, to } = unavailableSince(memory.history.lastObservedAt ?? never, view, observation);
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

/** Returns the time without ready replicas since the previous list of leases, as far as it is known; `to` is not after `from` if there was none. */
const unavailableSince = (
  previousList: number,
  { unavailable, knownSince }: ApiServerView,
  { endedAt }: LeaseObservation,
): { readonly from: number; readonly to: number } => {
  if (unavailable === undefined) return { from: endedAt, to: endedAt };
  const { since, until = endedAt } = unavailable;
  // An interrupted watch does not show the end, and the API server has served a list since.
  const isEndUnknown = unavailable.until === undefined && knownSince === undefined && since < previousList;
  return { from: isEndUnknown ? endedAt : Math.max(since, previousList), to: Math.min(until, endedAt) };
};

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
  const { unreachableSpell, ...rest } = memory;
  const earlierDowntime = downtime === undefined ? {} : { downtime };
  if (unreachableSpell === undefined) return { memory: rest, ...earlierDowntime };
  const until = observation.endedAt;
  const ms = until - unreachableSpell.since;
  const evidence = evidenceOf(unreachableSpell, view);
  if (evidence !== undefined) {
    if (ms < downtimeMs) return { memory: { ...rest, downUntil: until }, ...earlierDowntime };
    return { memory: reset(rest, until), downtime: { evidence, ms } };
  }
  const isUnconfirmed = ms >= downtimeMs && (unreachableSpell.unconnected || unreachableSpell.ours);
  return {
    memory: isUnconfirmed ? { ...rest, unconfirmedSpell: { since: unreachableSpell.since, until } } : rest,
    ...earlierDowntime,
  };
};

/** Ends the unconfirmed spell. A watch may lag: it may show that no replica was available only after the API server is reachable again. */
const endUnconfirmedSpell = (
  memory: ProbeMemory,
  observation: LeaseObservation,
  view: ApiServerView,
): AfterDowntime => {
  const { unconfirmedSpell, ...rest } = memory;
  if (unconfirmedSpell === undefined) return { memory };
  const { since, until } = unconfirmedSpell;
  const isRefuted = view.unavailable !== undefined && view.unavailable.since <= until;
  if (isRefuted && wasUnavailableSince(view, since)) {
    return { memory: reset(rest, until), downtime: { evidence: 'no-available-replica', ms: until - since } };
  }
  return { memory: observation.startedAt >= until + confirmAfterSpellMs ? rest : memory };
};

/** Returns the monotonic instant from which a list of leases may scale down; undefined if any list may. */
export const confirmableAt = ({ unconfirmedSpell }: ProbeMemory): number | undefined =>
  unconfirmedSpell && unconfirmedSpell.until + confirmAfterSpellMs;

/** Every healthy kubelet renews its lease within this time, in milliseconds. */
const gapMs = 12_000;

/**
 * Records until when requests of kubelets may have hung: until this list of leases, if it ends a spell in which they may have, or until the last slow request
 * of the run. `before`: the memory before `endDowntime`.
 */
export const recordStall = (memory: ProbeMemory, before: ProbeMemory, observation: LeaseObservation): ProbeMemory => {
  const { unreachableSpell } = before;
  // A response such as 403 shows a healthy API server. But after a long gap only timestamps show when a lease was renewed.
  const isStall =
    unreachableSpell !== undefined &&
    (unreachableSpell.failed || unreachableSpell.unconnected || observation.endedAt - unreachableSpell.since >= gapMs);
  const stalledUntil = isStall ? observation.endedAt : observation.stalledUntil;
  return stalledUntil === undefined ? memory : { ...memory, stalledUntil };
};
