import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ElectionLease } from '../api/lease.ts';
import { createElectionLease, getElectionLease, renewElectionLease } from './election-calls.ts';
import {
  type ElectionMemory,
  electionState,
  emptyElectionMemory,
  leadsUntil,
  sawElectionLease,
} from './election-state.ts';

const at = { namespace: 'garden', name: 'dwd-prober-leader-election' };
const candidate = { identity: 'us', leaseDurationMs: 15_000 };

const leaseOf = (spec: object, meta: object = {}): ElectionLease =>
  getElectionLease(at).decode({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: at.name, namespace: at.namespace, uid: 'u', resourceVersion: '7', ...meta },
    spec,
  });

const held = (holder: string, spec: object = {}): ElectionLease =>
  leaseOf({
    holderIdentity: holder,
    leaseDurationSeconds: 15,
    renewTime: '2026-11-21T00:00:00.000000Z',
    leaseTransitions: 3,
    ...spec,
  });

const saw = (lease: ElectionLease, when: number, memory: ElectionMemory = emptyElectionMemory): ElectionMemory =>
  sawElectionLease(memory, lease, { candidate, at: when });

describe('rule 25: the state of the Lease', () => {
  it.each([
    ['another, just before it expires', held('them'), 14_999, 'held'],
    ['another, when it expires', held('them'), 15_000, 'free'],
    ['another with a longer lease than ours', held('them', { leaseDurationSeconds: 60 }), 59_999, 'held'],
    ['another with a duration of 0: ours counts', held('them', { leaseDurationSeconds: 0 }), 14_999, 'held'],
    ['no replica', held(''), 0, 'free'],
    ['us', held('us'), 0, 'ours'],
  ])('rule 25: held by %s', (_, lease, age, expected) => {
    expect(electionState(saw(lease, 100), candidate, 100 + age).kind).toBe(expected);
  });

  it('rule 25: its age counts from the first read that showed its present record', () => {
    let memory = saw(held('them'), 0);
    memory = saw(held('them', {}), 10_000, memory);
    expect(electionState(memory, candidate, 15_000)).toMatchObject({ kind: 'free' });
  });

  it.each([
    ['renewTime', { renewTime: '2026-11-21T00:00:00.000001Z' }],
    ['holder', { holderIdentity: 'yet-another' }],
    ['transitions', { leaseTransitions: 4 }],
    ['duration', { leaseDurationSeconds: 14 }],
    ['acquireTime', { acquireTime: '2026-11-21T00:00:00.000000Z' }],
  ])('rule 25: a change of %s restarts its age', (_, change) => {
    const memory = saw(held('them', change), 10_000, saw(held('them'), 0));
    expect(electionState(memory, candidate, 20_000).kind).toBe('held');
  });

  it('rule 25: another Lease of the same name restarts its age, a change outside the record does not', () => {
    const first = saw(held('them'), 0);
    const relabelled = { ...held('them'), resourceVersion: '8', object: { metadata: { labels: { a: 'b' } } } };
    expect(electionState(saw({ ...held('them'), uid: 'v' }, 10_000, first), candidate, 20_000).kind).toBe('held');
    expect(electionState(saw(relabelled, 10_000, first), candidate, 20_000).kind).toBe('free');
  });
});

it('rule 26: reading our own name as holder does not make us the leader', () => {
  expect(leadsUntil(saw(held('us'), 0), 10_000)).toBe(Number.NEGATIVE_INFINITY);
});

describe('rule 29: the writes', () => {
  const claim = { identity: 'us', leaseDurationMs: 15_000, wall: Date.UTC(2026, 10, 21, 1, 2, 3, 456) };
  const now = '2026-11-21T01:02:03.456000Z';

  it('rule 29: a Lease lasts for others at least as long as for us', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (leaseDurationMs) => {
        const { body } = createElectionLease(at, { ...claim, leaseDurationMs });
        const lease = getElectionLease(at).decode({ ...(body as object), metadata: { name: 'a' } });
        expect(lease.durationSeconds! * 1_000).toBeGreaterThanOrEqual(leaseDurationMs);
        expect(lease.durationSeconds! * 1_000 - leaseDurationMs).toBeLessThan(1_000);
      }),
    );
  });

  it('rules 26, 29: every renewal changes renewTime, even if the wall clock does not advance, and keeps unknown fields', () => {
    const seen = new Set<unknown>();
    let lease = held('them', { strategy: 'kept' });
    for (let count = 0; count < 100; count += 1) {
      lease = renewElectionLease(at, lease, claim).decode(renewElectionLease(at, lease, claim).body);
      expect(Math.floor(lease.renewTime! / 1_000)).toBe(claim.wall);
      seen.add(lease.renewTime);
    }
    expect(seen.size).toBe(100);
    expect(lease.spec.strategy).toBe('kept');
  });

  it('rule 26: renewTime ignores fractions of a millisecond of the wall clock', () => {
    const { body } = createElectionLease(at, { ...claim, wall: claim.wall + 0.75 });
    expect(body).toMatchObject({ spec: { renewTime: now } });
  });
});
