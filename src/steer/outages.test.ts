import { describe, expect, it } from 'vitest';
import { formatHeldNote, heldAnnotation } from '../annotations/held-note.ts';
import type { HeldResource } from '../prober/held/index.ts';
import { findingsOf, proberOf, shootOf } from '../status/testing/statuses.ts';
import { judgeOutages, stillInOutage } from './outages.ts';

const namespace = 'shoot--dev--one';
const now = Date.parse('2026-01-01T12:00:00Z');
const title = `dev/one (${namespace})`;
const { objects } = findingsOf();
const leaderless = { ...objects, lease: { holder: '', isFresh: false } };

const heldIn = (where: string, note: string | undefined): HeldResource => ({
  namespace: where,
  cluster: where,
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-controller-manager' },
  state: {
    resourceVersion: '1',
    specReplicas: 0,
    readyReplicas: 0,
    observed: true,
    annotations: note === undefined ? {} : { [heldAnnotation]: note },
  },
});
const note = formatHeldNote({ since: now - 300_000, reason: '5/5 node leases expired', by: 'x' });
const held = [heldIn(namespace, note)];
const seen = (given: Parameters<typeof shootOf>[1]) => ({
  objects,
  answer: proberOf([shootOf('one', { since: '2026-01-01T11:55:00Z', candidates: 5, expired: 5, ...given })]),
  problem: undefined,
});

describe('the outage of a shoot to release', () => {
  it('goes on if a prober observes it, with the time that its nodes would have', () => {
    const leader = seen({ state: 'protected', reason: '5/5 node leases expired, threshold 0.6' });
    expect(judgeOutages({ held, leader, now })).toEqual([
      {
        cluster: namespace,
        goesOn: true,
        words:
          `${title}: 5/5 leases expired, protected for 5m0s: 5/5 node leases expired, threshold 0.6: the outage ` +
          'continues, and kube-controller-manager gives up these nodes about 40s after it is restored',
      },
    ]);
  });

  it.each([
    ['landing', 1, false],
    ['restoring', 0, false],
    ['healthy', 0, false],
    ['paused', 0, false],
    ['paused', 5, true],
    ['confirming', 5, true],
    ['unreachable', 0, true],
    ['unknown', 0, true],
  ] as const)('is judged by a prober that reports %s with %i expired leases', (state, expired, goesOn) => {
    expect(judgeOutages({ held, leader: seen({ state, expired }), now })).toMatchObject([
      { cluster: namespace, goesOn },
    ]);
  });

  it('goes on if a leader does not respond: it would have restored the resources', () => {
    const leader = { objects, answer: undefined, problem: 'refused' };
    expect(judgeOutages({ held, leader, now })).toEqual([
      {
        cluster: namespace,
        goesOn: true,
        words:
          `${namespace}: held since 2026-01-01T11:55:00.000Z (5m0s): 5/5 node leases expired; the leader did not respond; ` +
          'it restores held resources when the outage is over, so the outage continues',
      },
    ]);
  });

  it('goes on if there is a leader, but another replica has responded, without the shoot', () => {
    const leader = { objects, answer: { ...proberOf([]), leads: false }, problem: undefined };
    const [outage, ...rest] = judgeOutages({ held, leader, now });
    expect([outage?.goesOn, rest]).toEqual([true, []]);
    expect(outage?.words).toContain('the leader did not respond; it restores held resources');
  });

  it.each([
    [
      'no replica leads, and a standby responded',
      { objects: leaderless, answer: { ...proberOf([]), leads: false }, problem: undefined },
    ],
    ['no replica leads', { objects: leaderless, answer: undefined, problem: 'no pod' }],
    ['the Lease cannot be read', { objects: { ...objects, lease: undefined }, answer: undefined, problem: 'no pod' }],
    ['the prober does not probe the shoot', { objects, answer: proberOf([shootOf('two')]), problem: undefined }],
  ])('is unknown if %s', (_, leader) => {
    expect(judgeOutages({ held, leader, now })).toEqual([
      {
        cluster: namespace,
        goesOn: false,
        words:
          `${namespace}: held since 2026-01-01T11:55:00.000Z (5m0s): 5/5 node leases expired; the state of that ` +
          'outage is unknown',
      },
    ]);
  });

  it('is described in one line per shoot, even with hostile notes', () => {
    const leader = { objects: leaderless, answer: undefined, problem: undefined };
    const hostile = formatHeldNote({ reason: 'a\nb: nothing is held', by: '' });
    const several = [heldIn('b', undefined), heldIn('b', hostile), heldIn('a', undefined)];
    const words = judgeOutages({ held: several, leader, now }).map((outage) => outage.words);
    expect(words).toEqual([
      'a: held; the state of that outage is unknown',
      'b: held: a b: nothing is held; the state of that outage is unknown',
    ]);
  });
});

it('lists the released shoots whose leases are still expired, and how to protect them again', () => {
  const leader = seen({ state: 'paused' });
  expect(stillInOutage(leader, new Set([namespace]))).toEqual([
    `${title}: still 5/5 leases expired; dwd resume --shoot ${namespace} protects it again`,
  ]);
  expect(stillInOutage(leader, new Set(['elsewhere']))).toEqual([]);
  expect(stillInOutage(seen({ state: 'healthy', expired: 0 }), new Set([namespace]))).toEqual([]);
});
