import { ApiError, type Look, candidateNodes } from '../../domain/index.ts';
import { scaleUp, verdictOf } from './decision.ts';
import { blind, failed, unreachable } from './failure.ts';
import { type WatchedLease, confirmAfterMs, endDarkness, takeLook } from './look.ts';
import { couldTrigger, earliestPossibleTrigger, judgeSilence, objection, triggerInstant } from './outside-rules.ts';
import {
  canOnlyBeHealthy,
  countExpired,
  earliestPossibleExpiry,
  earliestWrongClocksDeadline,
  mayReach,
  reaches,
  share,
  thresholdInstant,
  wrongClocksDeadline,
} from './threshold.ts';
import type { Circumstances, Counts, Decision, DependentsView, Need, Observation, ProbeMemory } from './verdict.ts';

/**
 * Judges a probe run, or says what it needs to. Pure. The order is the specification's: API server, leases, candidates, verdict; an
 * error in any of them ends the run without scaling.
 */
export const decide = (observation: Observation, circumstances: Circumstances): Decision => {
  const { apiServer, leases, nodes, machines, dependents } = observation;
  if (apiServer === undefined) return needs('apiServer');
  if (!apiServer.ok) return unreachable(observation, apiServer.error, circumstances);
  if (leases === undefined) return needs('leases');
  if (!leases.ok) return unreachable(observation, leases.error, circumstances);

  const { settings } = circumstances;
  const looked = takeLook(leases.value, circumstances);
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
    const missing = [
      nodes === undefined ? (['nodes'] as const) : [],
      machines === undefined ? (['machines'] as const) : [],
    ];
    // Also while we hold something down: behind five requests a second, a whole seed would not get out of protection.
    const isUrgent = dependents.anyHeld || !isPathHarmless || looked.leases.some(({ expired }) => expired);
    return { kind: 'needs', needs: missing.flat(), ...(isUrgent ? { urgent: true } : {}) };
  }
  const { look } = leases.value;
  if (!nodes.ok) return failed('lease_list_failed', nodes.error, forgetLook(look, circumstances));
  if (!machines.ok) {
    const { error } = machines;
    const unjudged = forgetLook(look, circumstances);
    const verdict = { kind: 'failed', failure: 'lease_list_failed', error } as const;
    const isUrgent = error instanceof ApiError && mayReach(looked.leases, settings);
    return isUrgent ? blind(error, unjudged) : verdictOf(unjudged, { verdict });
  }
  const names = candidateNodes(nodes.value, machines.value, settings.poolConditions);
  return judge({
    candidates: looked.leases.filter(({ name }) => names.has(name)),
    dependents,
    circumstances: { ...circumstances, memory: seeing(looked.memory) },
  });
};

const seeing = ({ blindRuns: _, ...memory }: ProbeMemory): ProbeMemory => memory;

const needs = (part: Need): Decision => ({ kind: 'needs', needs: [part] });

/** Leases seen for the first time must still be confirmed by the next look. */
const forgetLook = (look: Look, circumstances: Circumstances): Circumstances => ({
  ...circumstances,
  memory: endDarkness(circumstances.memory, look),
});

interface Case {
  readonly candidates: readonly WatchedLease[];
  readonly dependents: DependentsView;
  readonly circumstances: Circumstances;
}

const judge = ({ candidates, dependents, circumstances }: Case): Decision => {
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
const judgeExpired = (known: Parameters<typeof judgeSilence>[0]): Decision => {
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
const judgeSingle = (counts: Counts, dependents: DependentsView, circumstances: Circumstances): Decision => {
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
