import type { ChooseCandidates, ChosenCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import {
  type Decision,
  type ObservedLease,
  type ProbeInput,
  type ProbeMemory,
  type ReadError,
  nextRunAt,
} from './judgement.ts';
import { endFailure } from './excuse.ts';
import { endOutage, trackOutage } from './landing.ts';
import { type LeaseList, observeLeases } from './leases.ts';
import { afterFailedRead } from './retry.ts';
import { countExpired, expiredFrom, fewestCandidates, neededOf, outageFrom, outageOfSomeFrom } from './rules.ts';

/** Nodes and machines are listed at least once in this time, in milliseconds: a shoot that cannot be protected must be known before the outage. */
const eagerEveryMs = 300_000;

/** Result of judging one list of the leases. */
export interface JudgedLeases {
  /** The memory of the run, with these leases. */
  readonly memory: ProbeMemory;
  /** What nodes and machines are needed for. `nothing`: they cannot change the decision. `knowledge`: nor can they, but they have not been listed for five minutes. */
  readonly need: 'nothing' | 'knowledge' | 'decision';
  /** True if leases have expired, an outage is possible, or resources are held. Requests to the seed must then not wait behind ordinary ones. */
  readonly isUrgent: boolean;
}

/** Enters a list of the leases into the memory, and judges each of them. */
export const judgeLeases = (list: LeaseList, input: ProbeInput): JudgedLeases => {
  const { settings, dependents, now } = input;
  const answered = endFailure(input.memory, list);
  const leases = observeLeases(list, answered, settings);
  const mayBeOutage = list.sentAt >= outageOfSomeFrom(leases, settings);
  const isKnown = answered.candidates !== undefined && now - answered.candidates.at < eagerEveryMs;
  const needIfQuiet = isKnown ? 'nothing' : 'knowledge';
  return {
    memory: { ...answered, leases, listedAt: list.sentAt },
    need: dependents.nothingToRestore && !mayBeOutage ? needIfQuiet : 'decision',
    // Also while resources are held: at the ordinary rate of five requests a second a whole seed would not leave protection.
    isUrgent: dependents.held > 0 || mayBeOutage || countExpired(leases, list.sentAt) > 0,
  };
};

/** Ends a run for which nodes and machines are not needed, or could not be listed only to be known: the shoot is healthy. */
export const decideByLeases = (input: ProbeInput): Decision => {
  const { settings, memory, now } = input;
  const { leases, listedAt = now, candidates } = memory;
  const known = leases.filter(({ name }) => candidates?.names.has(name));
  // Any three leases may be silent sooner than all candidates, but to look then would probe a healthy shoot twice as often.
  const mayTurnAt = Math.min(expiredFrom(leases, settings, fewestCandidates), outageFrom(known, settings));
  return {
    verdict: { kind: 'healthy' },
    reason: `${share(leases, listedAt)} leases expired: no set of nodes reaches the threshold`,
    nextRunAt: nextRunAt(input, mayTurnAt),
    memory: { ...endOutage(input), suspectedUntil: undefined },
  };
};

export interface NodesAndMachines {
  readonly nodes: Result<readonly NodeView[], ReadError>;
  readonly machines: Result<readonly Machine[], ReadError>;
  /** Selects the nodes whose leases count. */
  readonly chooseCandidates: ChooseCandidates;
  /** Why a lease does not count if no node has its name. */
  readonly noSuchNode: string;
}

/** Decides by the leases in the memory of those nodes that are candidates. */
export const decideByCandidates = (lists: NodesAndMachines, input: ProbeInput): Decision => {
  const { nodes, machines, chooseCandidates, noSuchNode } = lists;
  if (!nodes.ok) return afterFailedRead({ failure: 'node_list_failed', error: nodes.error }, input);
  if (!machines.ok) return afterFailedRead({ failure: 'machine_list_failed', error: machines.error }, input);

  const { now, settings, memory } = input;
  const { leases, listedAt = now } = memory;
  const chosen = chooseCandidates(nodes.value, machines.value, settings.poolConditions);
  const candidates = leases.filter(({ name }) => chosen.candidates.has(name));
  const found = {
    at: now,
    names: chosen.candidates,
    leftOut: notCounted(leases, { ...chosen, noSuchNode }),
    nodes: nodes.value.length,
  };
  const { lookAt, suspectedUntil, ...judged } = judge(candidates, listedAt, input);
  const decision = {
    ...judged,
    counts: { candidates: candidates.length, expired: countExpired(candidates, listedAt) },
    nextRunAt: nextRunAt(input, lookAt),
    memory: { ...memory, candidates: found, suspectedUntil },
  };
  return trackOutage(decision, candidates, input);
};

/** Returns why leases do not count, and which candidates have no lease. */
export const notCounted = (
  leases: readonly Pick<ObservedLease, 'name'>[],
  { candidates, leftOut, noSuchNode }: ChosenCandidates & Pick<NodesAndMachines, 'noSuchNode'>,
): ReadonlyMap<string, string> => {
  const found = new Map(leftOut);
  const withLease = new Set(leases.map(({ name }) => name));
  for (const name of withLease) {
    if (!candidates.has(name) && !leftOut.has(name)) found.set(name, noSuchNode);
  }
  for (const name of candidates) if (!withLease.has(name)) found.set(name, 'it has no lease yet');
  return found;
};

const share = (leases: readonly ObservedLease[], at: number): string =>
  `${String(countExpired(leases, at))}/${String(leases.length)}`;

/** What the candidates show at one instant. */
interface Judgement extends Pick<Decision, 'verdict' | 'reason'>, Pick<ProbeMemory, 'suspectedUntil'> {
  /** When the verdict will change if no lease is renewed. Absent: at no time that is known. */
  readonly lookAt?: number;
}

/** Judges the candidates at the instant `at`. Too few of them prove nothing; otherwise the shoot is unhealthy, once confirmed, if one of the two rules holds. */
const judge = (candidates: readonly ObservedLease[], at: number, input: ProbeInput): Judgement => {
  const { settings, dependents } = input;
  const healthy = { kind: 'healthy' } as const;
  if (candidates.length === 0) return { verdict: healthy, reason: 'no candidate nodes' };
  if (candidates.length < fewestCandidates) {
    // One node proves nothing about the path, but a pool that shrank to one while its shoot was held must be restored in the end.
    if (dependents.held > 0 && countExpired(candidates, at) === 0) {
      return { verdict: healthy, reason: 'the only candidate node renews its lease' };
    }
    return { verdict: { kind: 'skipped' }, reason: 'a single candidate node proves nothing about the path' };
  }
  const crossedAt = outageFrom(candidates, settings);
  if (at < crossedAt) return { verdict: healthy, reason: expiredInWords(candidates, at, input), lookAt: crossedAt };

  const expiredAt = expiredFrom(candidates, settings);
  const reason = at >= expiredAt ? expiredInWords(candidates, at, input) : silentInWords(candidates, at);
  const suspectedUntil = suspectedUntilOf(candidates, at, input);
  if (at < suspectedUntil) {
    return {
      verdict: { kind: 'confirming' },
      reason: `${reason}; looking again`,
      lookAt: suspectedUntil,
      suspectedUntil,
    };
  }
  const graceEndsAt = expiredAt + settings.graceMs - settings.expiryAgeMs;
  return { verdict: { kind: 'unhealthy', crossedAt, graceEndsAt }, reason, suspectedUntil: confirmed };
};

const expiredInWords = (candidates: readonly ObservedLease[], at: number, { settings }: ProbeInput): string =>
  `${share(candidates, at)} node leases expired, threshold ${String(settings.nodeLeaseFailureFraction)}`;

const silentInWords = (candidates: readonly ObservedLease[], at: number): string => {
  const silentSince = Math.max(...candidates.map((lease) => lease.silentSince));
  return `none of ${String(candidates.length)} candidates has renewed for ${((at - silentSince) / 1_000).toFixed(1)} s`;
};

/** A first list that shows the silence of all, or leases that no earlier list shows, is confirmed by another after this time, in milliseconds. */
const confirmAfterMs = 2_000;
/**
 * The same if the API server may have been down: we could not connect, or no list was answered while all were silent. Each kubelet tries again after 7 s
 * at the latest (`maxBackoff` of `backoffEnsureLease` in k8s.io/component-helpers/apimachinery/lease/controller.go).
 */
const confirmUnansweredAfterMs = 7_500;
/** Value of `suspectedUntil`: any list confirms the outage. */
const confirmed = Number.NEGATIVE_INFINITY;

/** Returns from when on a list confirms an outage that one shows at the instant `at`. */
const suspectedUntilOf = (candidates: readonly ObservedLease[], at: number, input: ProbeInput): number => {
  const { memory, settings } = input;
  const { cutOffUntil = Number.NEGATIVE_INFINITY } = memory;
  const reconnectedFrom = cutOffUntil + confirmUnansweredAfterMs;
  const until = memory.suspectedUntil ?? Math.max(at + confirmationMs(candidates, at, settings), reconnectedFrom);
  // The API server may have been down for so long since then that this alone explains the silence: the suspicion starts anew.
  const isOutdated = until !== confirmed && cutOffUntil > until + settings.graceMs / 2;
  return isOutdated ? reconnectedFrom : until;
};

/** Returns how long after a first list that shows an outage another must confirm it; 0 if it counts at once. */
const confirmationMs = (candidates: readonly ObservedLease[], at: number, settings: ProbeInput['settings']): number => {
  const expiredAt = expiredFrom(candidates, settings);
  if (at >= expiredAt) {
    const known = candidates.filter(({ expiresAt, isNew }) => at >= expiresAt && !isNew).length;
    return known >= neededOf(candidates.length, settings) ? 0 : confirmAfterMs;
  }
  const wasAnswered = candidates.every(({ shownAt }) => shownAt < at);
  // Once they have expired as well, patience protects nobody: a first list that shows that is confirmed sooner.
  const unansweredMs = Math.min(confirmUnansweredAfterMs, Math.max(confirmAfterMs, expiredAt - at));
  return wasAnswered ? confirmAfterMs : unansweredMs;
};
