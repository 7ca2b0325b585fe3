import { expect, it } from 'vitest';
import { leader, whyWithoutLead } from './without-lead.ts';

const standby = { ...leader, leads: false, isHotStandby: true, leaderSilentMs: 1_000, silenceLimitMs: 5_000 };
const verdict = { kind: 'unhealthy', crossedAt: 100_000 } as const;
const never = Number.NEGATIVE_INFINITY;

/** Situation three seconds after the threshold, with nothing written and a leader that renews. */
const situation = {
  now: 103_000,
  role: standby,
  verdict,
  judgedAt: 100_100,
  hasObservedRenewals: true,
  verdictMaxAgeMs: 20_000,
  isUnmet: true,
  progressAt: never,
  leftToLeaderUntil: never,
};

const silent = { ...standby, leaderSilentMs: 5_000 };

it.each([
  ['acts three seconds after the threshold if nothing is written', {}, 'nothing-written'],
  ['leaves the leader three seconds', { now: 102_999 }, undefined],
  ['leaves the leader a second after its own verdict', { judgedAt: 102_500 }, undefined],
  ['does not act if everything is down', { isUnmet: false }, undefined],
  ['leaves the leader three seconds after its latest progress', { progressAt: 100_001 }, undefined],
  ['acts if something is up three seconds after that', { progressAt: 100_000 }, 'nothing-written'],
  [
    'does not act shortly after the leader has restored resources that we had scaled down',
    { leftToLeaderUntil: 103_001 },
    undefined,
  ],
  ['acts if that was long ago', { leftToLeaderUntil: 103_000 }, 'nothing-written'],
  [
    'does not act 5 s after its verdict: the leader may have seen the end of the outage since',
    { now: 105_101 },
    undefined,
  ],
  ['acts until 5 s after its verdict', { now: 105_100 }, 'nothing-written'],
  ['acts at once if the leader is silent', { role: silent, now: 100_200 }, 'leader-silent'],
  [
    'acts if the leader falls silent in the middle of its work',
    { role: silent, progressAt: 102_000, leftToLeaderUntil: 200_000 },
    'leader-silent',
  ],
  [
    'does not act if the leader is silent for too short a time',
    { role: { ...standby, leaderSilentMs: 4_999 }, now: 100_200 },
    undefined,
  ],
  ['does not act if it has not read the Lease lately', { role: { ...standby, leaderSilentMs: undefined } }, undefined],
  ['does not act if its verdict is old', { role: silent, now: 120_101 }, undefined],
  [
    'does not act if its verdict rests on leases never seen renewed',
    { role: silent, hasObservedRenewals: false },
    undefined,
  ],
  ['does not act as a warm standby', { role: { ...silent, isHotStandby: false } }, undefined],
  ['does not act on another verdict', { role: silent, verdict: { kind: 'healthy', scope: 'all' } as const }, undefined],
  ['does not act without a verdict', { role: silent, verdict: undefined }, undefined],
])('%s', (_, change, cause) => {
  expect(whyWithoutLead({ ...situation, ...change })?.cause).toBe(cause);
});
