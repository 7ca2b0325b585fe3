import { describe, expect, it } from 'vitest';
import { deployment } from '../testing/seed-model.ts';
import { dependent } from '../testing/cases.ts';
import { createScaling } from '../plan/scaling.ts';
import type { ShootProberState } from '../plan/shoot-state.ts';
import { type NextStep, nextStep, pauseInWords } from './next-step.ts';
import type { ProtectionState } from './schema.ts';
import { describeWaiting, scalingProgress } from './scaling-progress.ts';
import { stateOf } from '../testing/shoot-prober-views.ts';

const unhealthy = { kind: 'unhealthy', crossedAt: 0 } as const;
const landing = { kind: 'landing', renewed: 7, awaited: 12, until: 41_000 } as const;
const due = { nextRunAt: 10_000 };

describe('the next step', () => {
  it.each<[protection: ProtectionState, state: Partial<ShootProberState>, next: NextStep]>([
    ['healthy', due, { text: 'next probe', at: 10_000 }],
    ['flapping', due, { text: 'next probe', at: 10_000 }],
    ['unreachable', due, { text: 'next probe', at: 10_000 }],
    ['unknown', due, { text: 'first probe', at: 10_000 }],
    ['unknown', { nextRunAt: Number.POSITIVE_INFINITY }, { text: 'first probe' }],
    ['healthy', { ...due, runStartedAt: 1 }, { text: 'next probe, which is under way' }],
    ['confirming', { ...due, verdict: { kind: 'confirming' } }, { text: 'next probe', at: 10_000 }],
    ['confirming', { ...due, verdict: unhealthy }, { text: 'retries the scale-down at the next probe', at: 10_000 }],
    ['protected', { ...due, verdict: unhealthy }, { text: 'held until leases are renewed; next probe', at: 10_000 }],
    ['landing', { ...due, verdict: landing }, { text: 'landing: 7 of 12 renewed, at the latest', at: 41_000 }],
    ['restoring', due, { text: 'restores held resources at the next probe', at: 10_000 }],
  ])('%s, %j', (protection, state, next) => {
    expect(nextStep({ state: stateOf(state), protection })).toEqual(next);
  });

  it('is the end of a pause, with the reason for the pause', () => {
    const pause = { until: '2026-01-01T14:00:00Z', reason: 'LB "maintenance"', by: 'jo' };
    const next = nextStep({ state: stateOf(due), protection: 'paused', pause });
    expect(next).toEqual({ text: String.raw`until 2026-01-01T14:00:00Z, "LB \"maintenance\"" (jo)` });
    expect(nextStep({ state: stateOf(due), protection: 'paused', pause, isUnmet: true })).toEqual({
      text: String.raw`NOT PROTECTED until 2026-01-01T14:00:00Z, "LB \"maintenance\"" (jo)`,
    });
    expect(pauseInWords({ reason: '', by: '' })).toBe('until it is taken back');
  });
});

describe('a scaling', () => {
  const resources = [dependent(deployment('a')), dependent(deployment('b'))];
  const desired = { direction: 'up', scope: 'all', reason: 'renewed', since: 1_000, judgedAt: 1_000 } as const;
  const created = createScaling(desired, { resources, now: 1_000, inFlight: new Set() });
  const scaling = {
    ...created,
    operations: created.operations.map((operation, index) =>
      index === 0 ? { ...operation, phase: { kind: 'done', outcome: 'scaled' } as const } : operation,
    ),
  };

  it('is the next step while it runs', () => {
    const state = stateOf({ ...due, scaling, verdict: { kind: 'healthy', scope: 'all' } });
    expect(nextStep({ state, protection: 'restoring' })).toEqual({ text: 'restoring: 1 of 2 done' });
  });

  it('describes what it waits for', () => {
    expect(describeWaiting(stateOf({ scaling }))).toBe('');
    const [a, b] = scaling.operations;
    const phase = { kind: 'waiting', until: 9_000, reread: false } as const;
    const waiting = { ...scaling, operations: [a!, { ...b!, phase }] };
    expect(describeWaiting(stateOf({ scaling: waiting }))).toBe(', waiting for b (delayed by its initialDelay)');
    const retrying = { ...scaling, operations: [a!, { ...b!, phase, attempts: 2 }] };
    expect(describeWaiting(stateOf({ scaling: retrying }))).toBe(', waiting for b (2 failed attempts)');
    expect(describeWaiting(stateOf())).toBe('');
  });

  it('shows its steps', () => {
    expect(scalingProgress(scaling, { monotonic: 5_000, wall: 10_000 })).toEqual({
      direction: 'up',
      reason: 'renewed',
      startedAt: '1970-01-01T00:00:06.000Z',
      steps: [
        { kind: 'Deployment', name: 'a', level: 0, state: 'done', detail: 'scaled' },
        { kind: 'Deployment', name: 'b', level: 0, state: 'pending' },
      ],
    });
  });
});
