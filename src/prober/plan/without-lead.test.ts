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
  restsOnSeenRenewals: true,
  verdictMaxAgeMs: 20_000,
  anyHeld: false,
  leftToLeaderUntil: never,
};

const silent = { ...standby, leaderSilentMs: 5_000 };

it.each([
  ['nothing is written after three seconds', {}, 'nothing-written'],
  ['the leader has its three seconds', { now: 102_999 }, undefined],
  ['and a second from our own verdict', { judgedAt: 102_500 }, undefined],
  ['something is held: it is at work', { anyHeld: true }, undefined],
  ['it has restored what we had scaled down', { leftToLeaderUntil: 103_001 }, undefined],
  ['that was long ago', { leftToLeaderUntil: 103_000 }, 'nothing-written'],
  ['it may have found since that the outage is over', { now: 105_101 }, undefined],
  ['a verdict of just before', { now: 105_100 }, 'nothing-written'],
  ['the leader is silent', { role: silent, now: 100_200 }, 'leader-silent'],
  ['silent in the middle of its work', { role: silent, anyHeld: true, leftToLeaderUntil: 200_000 }, 'leader-silent'],
  ['not silent for long enough', { role: { ...standby, leaderSilentMs: 4_999 }, now: 100_200 }, undefined],
  ['not looked at', { role: { ...standby, leaderSilentMs: undefined } }, undefined],
  ['the verdict is old', { role: silent, now: 120_101 }, undefined],
  ['leases not seen to be renewed', { role: silent, restsOnSeenRenewals: false }, undefined],
  ['a warm standby', { role: { ...silent, isHotStandby: false } }, undefined],
  ['another verdict', { role: silent, verdict: { kind: 'healthy', scope: 'all' } as const }, undefined],
  ['no verdict', { role: silent, verdict: undefined }, undefined],
])('%s', (_, change, cause) => {
  expect(whyWithoutLead({ ...situation, ...change })?.cause).toBe(cause);
});
