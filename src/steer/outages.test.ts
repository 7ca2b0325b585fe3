import { describe, expect, it } from 'vitest';
import { formatHeldAnnotation, heldAnnotation } from '../annotations/held.ts';
import type { HeldResource } from '../prober/index.ts';
import { type Situation, factsIn, toldOf } from '../status/state/testing/facts.ts';
import type { LeaderAnswer } from '../status/index.ts';
import { findingsOf, proberOf, shootOf } from '../status/testing/statuses.ts';
import { judgeOutages, stillInOutage } from './outages.ts';

const namespace = 'shoot--dev--one';
const now = Date.parse('2026-01-01T12:00:00Z');
const title = `dev/one (${namespace}, seed aws-eu10)`;
const { objects } = findingsOf();
const leaderless = { ...objects, lease: { holder: '', isFresh: false } };

const heldIn = (where: string, annotation: string | undefined): HeldResource => ({
  namespace: where,
  cluster: where,
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-controller-manager' },
  annotations: annotation === undefined ? {} : { [heldAnnotation]: annotation },
});
const annotation = formatHeldAnnotation({ since: now - 300_000, reason: '5/5 node leases expired', by: 'x' });
const resume = `dwd resume --shoot ${namespace}`;
const held = [heldIn(namespace, annotation)];
const seen = (...all: readonly Situation[]) => ({
  objects,
  answer: proberOf([toldOf(factsIn('one', ...all))]),
  problem: undefined,
});
const outageOf = (...all: readonly Situation[]) => judgeOutages({ held, leader: seen(...all), now })[0];

describe('the outage of a shoot to release', () => {
  it('goes on if a prober observes it, with the time that its nodes would have', () => {
    expect(outageOf('outage', 'held')).toEqual({
      cluster: namespace,
      isRefused: true,
      words: `${title}: HELD for 3m12s: 12/12 expired; held: kube-controller-manager, machine-controller-manager, cluster-autoscaler; the outage continues, and kube-controller-manager gives up these nodes about 40s after it is restored`,
    });
  });

  it.each<[all: readonly Situation[], isRefused: boolean, words: RegExp]>([
    [['landing', 'held'], false, /LANDING/],
    [['restoring', 'held'], false, /RESTORING/],
    [['paused'], false, /PAUSED/],
    [['outage', 'held', 'paused'], true, /the outage continues/],
    [['confirming', 'held'], true, /the outage continues/],
    [['outage', 'held', 'refused'], false, /401 Unauthorized .* whether its outage continues is not known$/],
    [['landing', 'held', 'unreachable'], false, /whether its outage continues is not known$/],
    [['notYet', 'held'], false, /nobody has judged whether its outage continues$/],
    [['hibernated', 'held'], false, /nobody has judged whether its outage continues$/],
  ])('in %j: refused %s', (all, isRefused, words) => {
    expect(outageOf(...all)).toMatchObject({ isRefused, words: expect.stringMatching(words) as string });
  });

  const elsewhere = { ...proberOf([]), leads: false };

  it.each<[what: string, isRefused: boolean, leader: Omit<LeaderAnswer, 'problem'>]>([
    ['a leader does not respond, which would have restored the resources', true, { objects, answer: undefined }],
    ['a leader does not respond, and another replica has, without the shoot', true, { objects, answer: elsewhere }],
    ['no replica leads, and a standby responded', false, { objects: leaderless, answer: elsewhere }],
    ['no replica leads', false, { objects: leaderless, answer: undefined }],
    ['the Lease cannot be read', false, { objects: { ...objects, lease: undefined }, answer: undefined }],
    ['the prober does not probe the shoot', false, { objects, answer: proberOf([shootOf('two')]) }],
  ])('is not known if %s: refused %s', (_, isRefused, leader) => {
    const known = `${namespace}: held since 2026-01-01T11:55:00.000Z (5m0s): 5/5 node leases expired; whether its outage continues is not known`;
    const words = `${known}${isRefused ? ': the leader did not respond, which restores when it is over' : ''}`;
    expect(judgeOutages({ held, leader: { ...leader, problem: undefined }, now })).toEqual([
      { cluster: namespace, isRefused, words },
    ]);
  });

  it('is described in one line per shoot, even with hostile annotations', () => {
    const leader = { objects: leaderless, answer: undefined, problem: undefined };
    const hostile = formatHeldAnnotation({ reason: 'a\nb: nothing is held', by: '' });
    const several = [heldIn('b', undefined), heldIn('b', hostile), heldIn('a', undefined)];
    const words = judgeOutages({ held: several, leader, now }).map((outage) => outage.words);
    expect(words).toEqual([
      'a: held; whether its outage continues is not known',
      'b: held: a b: nothing is held; whether its outage continues is not known',
    ]);
  });
});

it('lists the released shoots whose leases are still expired, or that cannot be seen, and how to protect them again', () => {
  expect(stillInOutage(seen('outage', 'paused'), new Set([namespace]), resume)).toEqual([
    `${title}: still 12/12 expired; ${resume} protects it again`,
  ]);
  expect(stillInOutage(seen('outage', 'paused'), new Set(['elsewhere']), resume)).toEqual([]);
  expect(stillInOutage(seen(), new Set([namespace]), resume)).toEqual([]);
  expect(stillInOutage(seen('refused'), new Set([namespace]), resume)).toEqual([
    expect.stringContaining('401 Unauthorized'),
  ]);
});
