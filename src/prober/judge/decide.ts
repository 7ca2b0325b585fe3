import type { ChooseCandidates, ChosenCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import {
  type Decision,
  decisionOf,
  healthyDecision,
  minRetryDelayMs,
  type ProbeInput,
  type ProbeMemory,
  type LeaseCounts,
  type ReadError,
} from './judgement.ts';
import { endFailure } from './excuse.ts';
import { endOutage, trackOutage } from './landing.ts';
import { type LeaseList, type ObservedLease, observeLeases } from './leases.ts';
import { afterFailedRead } from './retry.ts';
import { countExpired, expiredFrom, expiredOfSomeFrom, neededOf, outageFrom, outageOfSomeFrom } from './rules.ts';

const never = Number.NEGATIVE_INFINITY;

/** Nodes and machines are listed at least once in this time, in milliseconds: a shoot that cannot be protected must be known before the outage. */
const eagerEveryMs = 300_000;

/** Result of judging one list of the leases. Times are monotonic milliseconds. */
export interface JudgedLeases {
  readonly leases: readonly ObservedLease[];
  /** When the list was sent: what it shows was so at this instant at the latest. */
  readonly at: number;
  /** True if neither nodes nor machines could change the decision. */
  readonly leasesSuffice: boolean;
  /** True if neither could change the decision either, but they have not been listed for long. */
  readonly isOnlyToKnow: boolean;
  /** True if leases have expired or resources are held. Requests to the seed must then not wait behind ordinary ones. */
  readonly isUrgent: boolean;
  readonly memory: ProbeMemory;
}

/** Enters a list of the leases into the memory, and judges each of them. */
export const judgeLeases = (list: LeaseList, input: ProbeInput): JudgedLeases => {
  const { settings, dependents, now } = input;
  const answered = endFailure(input.memory, list);
  const leases = observeLeases(list, {
    previous: answered.leases,
    previousSentAt: answered.listedAt ?? never,
    excusedUntil: answered.excusedUntil ?? never,
    settings,
  });
  const memory = { ...answered, leases, listedAt: list.sentAt };
  const mayBeOutage = list.sentAt >= outageOfSomeFrom(leases, settings);
  const isKnown = memory.candidates !== undefined && now - memory.candidates.at < eagerEveryMs;
  return {
    leases,
    at: list.sentAt,
    leasesSuffice: dependents.nothingToRestore && !mayBeOutage && isKnown,
    isOnlyToKnow: dependents.nothingToRestore && !mayBeOutage && !isKnown,
    // Also while resources are held: at the ordinary rate of five requests a second a whole seed would not leave protection.
    isUrgent: dependents.anyHeld || mayBeOutage || countExpired(leases, list.sentAt) > 0,
    memory,
  };
};

/** Decides by the leases alone, for `leasesSuffice`. */
export const decideByLeases = ({ leases, at, memory }: JudgedLeases, input: ProbeInput): Decision => {
  const { suspectedUntil: _, ...rest } = endOutage(memory, input.now);
  const { candidates } = memory;
  const known = leases.filter(({ name }) => candidates?.names.has(name));
  return healthyDecision(input, {
    memory: rest,
    reason: `${share(leases, at)} leases expired: no set of nodes reaches the threshold`,
    // Some three leases may be silent sooner than the candidates, but a healthy shoot would then be probed twice as often.
    mayTurnAt: Math.min(expiredOfSomeFrom(leases, input.settings), outageFrom(known, input.settings)),
  });
};

export interface NodesAndMachines {
  readonly nodes: Result<readonly NodeView[], ReadError>;
  readonly machines: Result<readonly Machine[], ReadError>;
  /** Selects the nodes whose leases count. */
  readonly chooseCandidates: ChooseCandidates;
  /** Why a lease does not count if no node has its name. */
  readonly noSuchNode: string;
}

/** Decides by the leases of the candidates. */
export const decideByCandidates = (judged: JudgedLeases, lists: NodesAndMachines, input: ProbeInput): Decision => {
  const { leases, memory } = judged;
  const { nodes, machines, chooseCandidates, noSuchNode } = lists;
  const fail = (failure: 'node_list_failed' | 'machine_list_failed', error: ReadError): Decision =>
    afterFailedRead({ failure, error }, { ...input, memory });
  if (!nodes.ok) return fail('node_list_failed', nodes.error);
  if (!machines.ok) return fail('machine_list_failed', machines.error);

  const chosen = chooseCandidates(nodes.value, machines.value, input.settings.poolConditions);
  const candidates = leases.filter(({ name }) => chosen.candidates.has(name));
  const known = { ...memory, candidates: { at: input.now, names: chosen.candidates } };
  const decision = judge(candidates, judged.at, { ...input, memory: known });
  return {
    ...trackOutage(decision, candidates, input),
    leftOut: notCounted(leases, { ...chosen, noSuchNode }),
    nodes: nodes.value.length,
  };
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

/** Judges the candidates by the first rule that holds at the instant `at`: too few of them, expired, all silent; else the shoot is healthy. */
const judge = (candidates: readonly ObservedLease[], at: number, input: ProbeInput): Decision => {
  const { settings, dependents } = input;
  const counts = { candidates: candidates.length, expired: countExpired(candidates, at) };
  const { suspectedUntil: _, ...memory } = input.memory;
  if (counts.candidates === 0) return healthyDecision(input, { memory, counts, reason: 'no candidate nodes' });
  if (counts.candidates === 1) {
    // One node proves nothing about the path, but a pool that shrank to one while its shoot was held must be restored in the end.
    if (dependents.anyHeld && counts.expired === 0) {
      const reason = 'the only candidate node renews its lease';
      return healthyDecision(input, { memory, counts, reason });
    }
    const reason = 'a single candidate node proves nothing about the path';
    return decisionOf(input, { verdict: { kind: 'skipped' }, memory, reason, counts });
  }
  const crossedAt = outageFrom(candidates, settings);
  if (at >= crossedAt) return judgeOutage(candidates, { crossedAt, observedAt: at, counts }, input);
  return healthyDecision(input, {
    memory,
    counts,
    reason: expiredInWords(candidates, at, input),
    mayTurnAt: crossedAt,
  });
};

const expiredInWords = (candidates: readonly ObservedLease[], at: number, { settings }: ProbeInput): string =>
  `${share(candidates, at)} node leases expired, threshold ${String(settings.nodeLeaseFailureFraction)}`;

interface ObservedOutage {
  /** From when on a rule holds. */
  readonly crossedAt: number;
  /** When the list was sent that shows it. */
  readonly observedAt: number;
  readonly counts: LeaseCounts;
}

/** A first list that shows the silence of all, or leases that no earlier list shows, is confirmed by another after this time, in milliseconds. */
const confirmAfterMs = 2_000;
/**
 * The same if the API server may have been down: only we could not connect, or no list was answered while all were silent. Each kubelet tries again after 7 s
 * at the latest (`maxBackoff` of `backoffEnsureLease` in k8s.io/component-helpers/apimachinery/lease/controller.go).
 */
const confirmUnansweredAfterMs = 7_500;
/** Value of `suspectedUntil`: any list confirms the outage. */
const confirmed = never;

/** Judges candidates of which a rule holds: the shoot is cut off, unless a second list has to confirm it. */
const judgeOutage = (candidates: readonly ObservedLease[], outage: ObservedOutage, input: ProbeInput): Decision => {
  const { memory, settings, now } = input;
  const { crossedAt, observedAt, counts } = outage;
  const expiredAt = expiredFrom(candidates, settings);
  const rule = observedAt >= expiredAt ? 'expired' : 'all silent';
  const words =
    rule === 'expired'
      ? expiredInWords(candidates, observedAt, input)
      : `none of ${String(counts.candidates)} candidates has renewed for ${silentInWords(candidates, observedAt)}`;
  const { cutOffUntil = never } = memory;
  const reconnectedFrom = cutOffUntil + confirmUnansweredAfterMs;
  const until =
    memory.suspectedUntil ??
    Math.max(
      observedAt + confirmationMs(candidates, { observedAt, counts, rule, expiredAt }, settings),
      reconnectedFrom,
    );
  // The API server may have been down for so long since then that this alone explains the silence: the suspicion starts anew.
  const isOutdated = until !== confirmed && cutOffUntil > until + settings.graceMs / 2;
  const suspectedUntil = isOutdated ? reconnectedFrom : until;
  if (observedAt < suspectedUntil) {
    return decisionOf(input, {
      verdict: { kind: 'confirming' },
      reason: `${words}; looking again`,
      counts,
      nextRunAt: Math.max(suspectedUntil, now + minRetryDelayMs),
      memory: { ...memory, suspectedUntil },
    });
  }
  const verdict = {
    kind: 'unhealthy',
    crossedAt,
    graceEndsAt: expiredAt + settings.graceMs - settings.expiryAgeMs,
  } as const;
  return decisionOf(input, { verdict, reason: words, counts, memory: { ...memory, suspectedUntil: confirmed } });
};

interface Suspicion extends Pick<ObservedOutage, 'observedAt' | 'counts'> {
  readonly rule: 'expired' | 'all silent';
  /** From when on enough candidates have expired. */
  readonly expiredAt: number;
}

/** Returns how long after a first list that shows an outage another must confirm it; 0 if it counts at once. */
const confirmationMs = (
  candidates: readonly ObservedLease[],
  { rule, observedAt, counts, expiredAt }: Suspicion,
  settings: ProbeInput['settings'],
): number => {
  if (rule === 'expired') {
    const known = candidates.filter(({ expiresAt, isNew }) => observedAt >= expiresAt && !isNew).length;
    return known >= neededOf(counts.candidates, settings) ? 0 : confirmAfterMs;
  }
  const wasAnswered = candidates.every(({ shownAt }) => shownAt < observedAt);
  // Once they have expired as well, patience protects nobody: a first list that shows that is confirmed sooner.
  const unansweredMs = Math.min(confirmUnansweredAfterMs, Math.max(confirmAfterMs, expiredAt - observedAt));
  return wasAnswered ? confirmAfterMs : unansweredMs;
};

const silentInWords = (candidates: readonly ObservedLease[], at: number): string =>
  `${((at - Math.max(...candidates.map(({ silentSince }) => silentSince))) / 1_000).toFixed(1)} s`;
