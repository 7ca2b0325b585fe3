import type { ChooseCandidates, ChosenCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import { earliestAllSilent, judgeAllSilent, allSilentInstant, someAreSilent } from './all-silent.ts';
import { type Decision, decisionOf, healthyDecision, minRetryDelayMs } from './decision.ts';
import { confirmableAt, endDowntime, recordStall } from './downtime.ts';
import { afterFailedCandidateRead } from './failure.ts';
import { type ObservedLease, confirmAfterMs, observeLeases } from './observed-leases.ts';
import { endOutage, trackOutage } from './landing.ts';
import {
  type CandidatesCase,
  couldTrigger,
  earliestPossibleTrigger,
  judgeTrigger,
  earlierTurn,
  triggerInstant,
  veto,
} from './external-probe-rules.ts';
import {
  canOnlyBeHealthy,
  countExpired,
  earliestPossibleThreshold,
  earliestWrongClocksDeadline,
  reachesThreshold,
  share,
  thresholdInstant,
  wrongClocksDeadline,
} from './lease-threshold.ts';
import type { LeaseList, ProbeInput } from './probe-input.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { LeaseCounts, Downtime, ReadError } from './verdict.ts';

/** Result of judging one list of the leases. */
export interface JudgedLeases {
  readonly leases: readonly ObservedLease[];
  /** True if neither nodes nor machines could change the decision. */
  readonly leasesSuffice: boolean;
  /** True if leases have expired or resources are held. Requests to the seed must then not wait behind ordinary ones. */
  readonly isUrgent: boolean;
  readonly memory: ProbeMemory;
  /** The memory without this list, for a run that fails after it: the next run must still confirm leases that were seen for the first time. */
  readonly memoryBefore: ProbeMemory;
  readonly downtime?: Downtime;
}

/** Records a list of the leases in the memory, and judges each of them. */
export const judgeLeases = (listed: LeaseList, input: ProbeInput): JudgedLeases => {
  const { settings, dependents } = input;
  const ended = endDowntime(input.memory, listed.observation, input.apiServer ?? {});
  const memoryBefore = recordStall(ended.memory, input.memory, listed.observation);
  const { downtime } = ended;
  const { leases, memory } = observeLeases(listed, { ...input, memory: memoryBefore });
  const mayTrigger = couldTrigger(leases, input) || someAreSilent(leases, { ...input, memory });
  return {
    leases,
    leasesSuffice: !mayTrigger && canOnlyBeHealthy(leases, dependents, settings),
    // Also while resources are held: at the ordinary rate of five requests a second a whole seed would not leave protection.
    isUrgent: dependents.anyHeld || mayTrigger || leases.some(({ expired }) => expired),
    memory,
    memoryBefore,
    ...(downtime === undefined ? {} : { downtime }),
  };
};

const withDowntime = (decision: Decision, { downtime }: JudgedLeases): Decision =>
  downtime === undefined ? decision : { ...decision, downtime };

/** Decides by the leases alone, for `leasesSuffice`. */
export const decideByLeases = (judged: JudgedLeases, input: ProbeInput): Decision => {
  const { leases, memory } = judged;
  const byTrigger = earliestPossibleTrigger(leases, input);
  const byAllSilent = earliestAllSilent(leases, { ...input, memory });
  const { allSilentSeenAt: _, ...rest } = endOutage(memory, input.now);
  const decision = healthyDecision(input, {
    memory: rest,
    reason: `${share(leases)} leases expired: no set of nodes reaches the threshold`,
    deadlines: [
      earliestPossibleThreshold(leases, input.settings),
      earliestWrongClocksDeadline(leases, input.now),
      byTrigger.deadline,
      byAllSilent.deadline,
    ],
    verdictMayTurnAt: earlierTurn(byTrigger, byAllSilent),
  });
  return withDowntime(decision, judged);
};

export interface NodesAndMachines {
  readonly nodes: Result<readonly NodeView[], ReadError>;
  readonly machines: Result<readonly Machine[], ReadError>;
  /** Selects the nodes whose leases count. */
  readonly chooseCandidates: ChooseCandidates;
}

/** Decides by the leases of the candidates. */
export const decideByCandidates = (judged: JudgedLeases, lists: NodesAndMachines, input: ProbeInput): Decision => {
  const { leases, memory, memoryBefore } = judged;
  const { nodes, machines, chooseCandidates } = lists;
  const afterFailure = (error: ReadError, isSeed: boolean): Decision =>
    withDowntime(afterFailedCandidateRead({ error, isSeed, leases }, { ...input, memory: memoryBefore }), judged);
  if (!nodes.ok) return afterFailure(nodes.error, false);
  if (!machines.ok) return afterFailure(machines.error, true);

  const recorded = { ...input, memory };
  const chosen = chooseCandidates(nodes.value, machines.value, input.settings.poolConditions);
  const candidates = leases.filter(({ name }) => chosen.candidates.has(name));
  const confirmed = confirmAfterCutOff(judge(candidates, recorded), recorded);
  const decision = {
    ...trackOutage(confirmed, candidates, recorded),
    leftOut: notCounted(leases, chosen),
    nodes: nodes.value.length,
    ...(isBackedByObservedRenewals(confirmed, candidates, recorded) ? { hasObservedRenewals: true as const } : {}),
  };
  return withDowntime(decision, judged);
};

/** Returns why leases do not count, and which candidates have no lease. */
const notCounted = (
  leases: readonly ObservedLease[],
  { candidates, leftOut }: ChosenCandidates,
): ReadonlyMap<string, string> => {
  const found = new Map(leftOut);
  const withLease = new Set(leases.map(({ name }) => name));
  for (const name of withLease) {
    if (!candidates.has(name) && !leftOut.has(name)) found.set(name, 'there is no such node');
  }
  for (const name of candidates) if (!withLease.has(name)) found.set(name, 'it has no lease yet');
  return found;
};

/** True if enough silent leases were seen renewed before. The timestamp of any other lease does not show if the API server was down since. */
const isBackedByObservedRenewals = (
  { verdict, counts }: Decision,
  candidates: readonly ObservedLease[],
  { memory, settings }: ProbeInput,
): boolean => {
  if (verdict.kind !== 'unhealthy' || counts === undefined) return false;
  const silent = reachesThreshold(counts, settings) ? candidates.filter(({ expired }) => expired) : candidates;
  const watched = silent.filter(({ name }) => !memory.history.neverSeenRenewed.has(name));
  return reachesThreshold({ ...counts, expired: watched.length }, settings);
};

/**
 * Judges the candidates by the first rule that applies: no candidate, a single one, the threshold, a scale-down by the external probe, all silent, a shoot that
 * the external probe leaves as it is; else the shoot is healthy.
 */
const judge = (candidates: readonly ObservedLease[], input: ProbeInput): Decision => {
  const { settings } = input;
  const { allSilentSeenAt: _, ...memory } = input.memory;
  const notAllSilent = { ...input, memory };
  const counts = { candidates: candidates.length, expired: countExpired(candidates) };
  if (counts.candidates === 0) return healthyDecision(notAllSilent, { memory, counts, reason: 'no candidate nodes' });
  if (counts.candidates === 1) return judgeSingle(counts, notAllSilent);

  const reason = `${share(candidates)} node leases expired, threshold ${String(settings.nodeLeaseFailureFraction)}`;
  const candidatesCase = { candidates, counts, reason, crossesAt: thresholdInstant(candidates, settings) };
  const byAllSilent = judgeAllSilent(candidatesCase, input);
  if (reachesThreshold(counts, settings)) {
    // While all are silent, the memory of when that was first observed stays.
    return judgeExpired(candidatesCase, byAllSilent === undefined ? notAllSilent : input);
  }
  const byTrigger = judgeTrigger(candidatesCase, notAllSilent);
  if (byTrigger?.verdict.kind === 'unhealthy') return byTrigger;
  return byAllSilent ?? byTrigger ?? judgeHealthy(candidatesCase, notAllSilent);
};

const judgeHealthy = ({ candidates, counts, reason, crossesAt }: CandidatesCase, input: ProbeInput): Decision => {
  const trigger = triggerInstant(candidates, input);
  const allSilent = allSilentInstant(candidates, input);
  return healthyDecision(input, {
    memory: input.memory,
    counts,
    reason,
    deadlines: [crossesAt, wrongClocksDeadline(candidates, input.now), trigger.deadline, allSilent.deadline],
    verdictMayTurnAt: earlierTurn(trigger, allSilent),
  });
};

/** Judges candidates whose share of expired leases has reached the threshold. */
const judgeExpired = (candidatesCase: CandidatesCase, input: ProbeInput): Decision => {
  const { candidates, counts, reason, crossesAt } = candidatesCase;
  const { now, memory } = input;
  const seenBefore = candidates.filter((lease) => lease.expired && !restsOnTimestamp(lease)).length;
  if (reachesThreshold({ ...counts, expired: seenBefore }, input.settings)) {
    // Leases without `renewTime` reach the threshold at no finite instant.
    const crossedAt = crossesAt !== undefined && Number.isFinite(crossesAt) ? crossesAt : now;
    const verdict = { kind: 'unhealthy', crossedAt } as const;
    return veto(candidatesCase, input) ?? decisionOf(input, { verdict, reason, counts });
  }
  const unconfirmed = candidates.filter((lease) => lease.expired && restsOnTimestamp(lease)).map(({ name }) => name);
  return decisionOf(input, {
    verdict: { kind: 'confirming' },
    reason: `${reason}; by timestamps just seen for the first time, so looking again`,
    counts,
    nextRunAt: now + confirmAfterMs,
    memory: { ...memory, unconfirmedLeases: new Set(unconfirmed) },
  });
};

/**
 * True if the lease's age rests on a timestamp that a wrong clock may have written: the first one we saw, or (expired, though just seen renewed) one after a
 * gap between observations that was longer than the expiry age.
 */
const restsOnTimestamp = ({ firstSeen, renewed }: ObservedLease): boolean => firstSeen || renewed;

/** Judges a single candidate. It proves nothing about the network, but a pool that shrank to one node while its shoot was held must be restored in the end. */
const judgeSingle = (counts: LeaseCounts, input: ProbeInput): Decision => {
  const { memory, dependents } = input;
  if (dependents.anyHeld && counts.expired === 0) {
    return healthyDecision(input, {
      memory,
      counts,
      scope: 'held',
      reason: 'the only candidate node renews its lease',
    });
  }
  const reason = 'a single candidate node proves nothing about the path';
  return decisionOf(input, { verdict: { kind: 'skipped' }, reason, counts });
};

/** Requires a second observation for a scale-down right after a spell in which only we were cut off: kubelets may have been cut off as well. */
const confirmAfterCutOff = (decision: Decision, input: ProbeInput): Decision => {
  const at = confirmableAt(input.memory);
  if (decision.verdict.kind !== 'unhealthy' || at === undefined) return decision;
  const { counts, verdictMayTurnAt, memory } = decision;
  return decisionOf(input, {
    verdict: { kind: 'confirming' },
    reason: `${decision.reason}; the API server is in reach again only now, so looking again`,
    counts,
    nextRunAt: Math.max(at, input.now + minRetryDelayMs),
    verdictMayTurnAt,
    memory,
  });
};
