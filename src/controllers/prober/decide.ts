import { candidateNodes } from '../../domain/index.ts';
import { scaleUp, soonestMs, verdictOf } from './decision.ts';
import { endDowntime, secondLookAt } from './downtime.ts';
import { unlisted, unreachable } from './failure.ts';
import { type WatchedLease, confirmAfterMs, takeLook } from './look.ts';
import { couldTrigger, earliestPossibleTrigger, judgeSilence, objection, triggerInstant } from './outside-rules.ts';
import {
  canOnlyBeHealthy,
  countExpired,
  earliestPossibleExpiry,
  earliestWrongClocksDeadline,
  reaches,
  share,
  thresholdInstant,
  wrongClocksDeadline,
} from './threshold.ts';
import type {
  Circumstances,
  Counts,
  Decision,
  DependentsView,
  LeaseList,
  Need,
  Observation,
  Verdicted,
} from './verdict.ts';

/**
 * Judges a probe run, or says what it needs to. Pure. The order is the specification's: API server, leases, candidates, verdict; an
 * error in any of them ends the run without scaling.
 */
export const decide = (observation: Observation, circumstances: Circumstances): Decision => {
  const { apiServer, leases } = observation;
  if (apiServer === undefined) return { kind: 'needs', needs: firstNeeds(observation, circumstances) };
  if (!apiServer.ok) return unreachable(observation, apiServer.error, circumstances);
  if (leases === undefined) return { kind: 'needs', needs: ['leases'] };
  if (!leases.ok) return unreachable(observation, leases.error, circumstances);

  const view = circumstances.apiServer ?? {};
  const { memory, downtime } = endDowntime(circumstances.memory, leases.value.look, view);
  const decision = decideByLeases(observation, leases.value, { ...circumstances, memory });
  return decision.kind === 'needs' || downtime === undefined ? decision : { ...decision, downtime };
};

/** Answers that took longer in the latest run, or longer than a quarter of a run's time: requests go side by side where they can. */
const slowAnswerMs = 2_000;

const isSlow = (
  { startedAt, endsBy = Number.POSITIVE_INFINITY }: Observation,
  { memory: { slowestAnswerMs = 0 } }: Circumstances,
): boolean => slowestAnswerMs > Math.min(slowAnswerMs, (endsBy - startedAt) / 4);

/** Whether another answer that takes as long as the first ones of this run comes before its time is up. */
const hasTimeForAnother = (
  { startedAt, endsBy = Number.POSITIVE_INFINITY }: Observation,
  { now }: Circumstances,
): boolean => now + (now - startedAt) < endsBy;

const firstNeeds = (observation: Observation, circumstances: Circumstances): readonly Need[] =>
  isSlow(observation, circumstances) ? ['apiServer', 'leases'] : ['apiServer'];

const decideByLeases = (observation: Observation, listed: LeaseList, circumstances: Circumstances): Decision => {
  const { nodes, machines, dependents } = observation;
  const { settings } = circumstances;
  const looked = takeLook(listed, circumstances);
  const isPathHarmless = !couldTrigger(looked.leases, circumstances);
  if (isPathHarmless && canOnlyBeHealthy(looked.leases, dependents, settings)) {
    const { deadline, pathTurnsAt } = earliestPossibleTrigger(looked.leases, circumstances);
    return scaleUp(circumstances, {
      memory: looked.memory,
      reason: `${share(looked.leases)} leases expired: no set of nodes reaches the threshold`,
      deadlines: [
        earliestPossibleExpiry(looked.leases, settings),
        earliestWrongClocksDeadline(looked.leases, circumstances.now),
        deadline,
      ],
      pathTurnsAt,
    });
  }
  if (nodes === undefined || machines === undefined) {
    const missing: readonly (readonly Need[])[] = [
      nodes === undefined ? ['nodes'] : [],
      machines === undefined ? ['machines'] : [],
      // Until these are in, the list at hand has aged. An aged list is still better than a run that never ends in time.
      isSlow(observation, circumstances) && hasTimeForAnother(observation, circumstances) ? ['leases'] : [],
    ];
    // Also while we hold something down: behind five requests a second, a whole seed would not get out of protection.
    const isUrgent = dependents.anyHeld || !isPathHarmless || looked.leases.some(({ expired }) => expired);
    return { kind: 'needs', needs: missing.flat(), ...(isUrgent ? { urgent: true } : {}) };
  }
  // The look is forgotten: leases seen for the first time must still be confirmed by the next one.
  const { leases } = looked;
  if (!nodes.ok) return unlisted({ error: nodes.error, isSeed: false, leases }, circumstances);
  if (!machines.ok) return unlisted({ error: machines.error, isSeed: true, leases }, circumstances);
  const names = candidateNodes(nodes.value, machines.value, settings.poolConditions);
  const judged = judge({
    candidates: leases.filter(({ name }) => names.has(name)),
    dependents,
    circumstances: { ...circumstances, memory: looked.memory },
  });
  return confirmAfterSpell(judged, circumstances);
};

/** Where only we were cut off, kubelets may have been as well: a scale-down right afterwards takes a second look. */
const confirmAfterSpell = (decision: Verdicted, { now, memory, ...rest }: Circumstances): Decision => {
  const at = secondLookAt(memory);
  if (decision.verdict.kind !== 'scale-down' || at === undefined) return decision;
  const { counts, pathTurnsAt } = decision;
  return verdictOf(
    { ...rest, now, memory: decision.memory },
    {
      verdict: { kind: 'confirm' },
      reason: `${decision.reason}; the API server is in reach again only now, so looking again`,
      counts,
      nextRunAt: Math.max(at, now + soonestMs),
      pathTurnsAt,
    },
  );
};

interface Case {
  readonly candidates: readonly WatchedLease[];
  readonly dependents: DependentsView;
  readonly circumstances: Circumstances;
}

const judge = ({ candidates, dependents, circumstances }: Case): Verdicted => {
  const { settings, memory } = circumstances;
  const counts = { candidates: candidates.length, expired: countExpired(candidates) };
  if (counts.candidates === 0) return scaleUp(circumstances, { memory, counts, reason: 'no candidate nodes' });
  if (counts.candidates === 1) return judgeSingle(counts, dependents, circumstances);
  const reason = `${share(candidates)} node leases expired, threshold ${String(settings.nodeLeaseFailureFraction)}`;
  const crossesAt = thresholdInstant(candidates, settings);
  const known = { candidates, counts, dependents, reason, crossesAt, circumstances };
  if (reaches(counts, settings)) return judgeExpired(known);
  const bySilence = judgeSilence(known);
  if (bySilence !== undefined) return bySilence;
  const { deadline, pathTurnsAt } = triggerInstant(candidates, circumstances);
  const deadlines = [crossesAt, wrongClocksDeadline(candidates, circumstances.now), deadline];
  return scaleUp(circumstances, { memory, counts, reason, deadlines, pathTurnsAt });
};

/** The share of expired leases has reached the threshold. */
const judgeExpired = (known: Parameters<typeof judgeSilence>[0]): Verdicted => {
  const { candidates, counts, reason, crossesAt, circumstances } = known;
  const { now, memory } = circumstances;
  const seenBefore = candidates.filter((lease) => lease.expired && !restsOnTimestamp(lease)).length;
  if (reaches({ ...counts, expired: seenBefore }, circumstances.settings)) {
    // Leases that never were renewed crossed it at no instant.
    const crossedAt = crossesAt !== undefined && Number.isFinite(crossesAt) ? crossesAt : now;
    const verdict = { kind: 'scale-down', crossedAt } as const;
    return objection(known, circumstances) ?? verdictOf(circumstances, { verdict, reason, counts });
  }
  const unconfirmed = candidates.filter((lease) => lease.expired && restsOnTimestamp(lease)).map(({ name }) => name);
  return verdictOf(
    { ...circumstances, memory: { ...memory, unconfirmed: new Set(unconfirmed) } },
    {
      verdict: { kind: 'confirm' },
      reason: `${reason}; by timestamps just seen for the first time, so looking again`,
      counts,
      nextRunAt: now + confirmAfterMs,
    },
  );
};

/** Its age is what a clock that may be wrong has written: the first timestamp seen of it, or one that came after a long gap between looks. */
const restsOnTimestamp = ({ firstSeen, moved }: WatchedLease): boolean => firstSeen || moved;

/** One node proves nothing about the path; but a pool that shrank to one while protected must not stay frozen for ever. */
const judgeSingle = (counts: Counts, dependents: DependentsView, circumstances: Circumstances): Verdicted => {
  const { memory } = circumstances;
  if (dependents.anyHeld && counts.expired === 0) {
    return scaleUp(circumstances, {
      memory,
      counts,
      scope: 'held',
      reason: 'the only candidate node renews its lease',
    });
  }
  const reason = 'a single candidate node proves nothing about the path';
  return verdictOf(circumstances, { verdict: { kind: 'skip' }, reason, counts });
};
