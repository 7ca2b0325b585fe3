import { describe, expect, it } from 'vitest';
import type { ProberStatus } from '../prober/status/index.ts';
import { type SeedFindings, judgeSeed } from './judge.ts';
import type { StatusExitCode } from './seed-status.ts';
import {
  before,
  findingsOf,
  ignoringShoot,
  pausedShoot,
  proberOf,
  protectedShoot,
  shootOf,
  unprobedShoot,
} from './testing/statuses.ts';

const led = findingsOf().objects;
const nobody = { ...led, lease: { holder: '', isFresh: false } };
const silent = { ...led, lease: { holder: 'dwd-prober-a_1f', isFresh: false } };
const none = { shoots: [], total: 3, paused: null, problems: [] };
const held = { ...none, shoots: [protectedShoot] };

describe('the exit code', () => {
  it.each<[what: string, code: StatusExitCode, findings: Partial<SeedFindings>]>([
    ['all healthy', 0, { answer: proberOf([shootOf('a'), shootOf('b')]) }],
    ['no shoots', 0, { answer: proberOf([]) }],
    ['held', 1, { answer: proberOf([shootOf('a'), protectedShoot]) }],
    ['healthy with ignore-scaling', 1, { answer: proberOf([ignoringShoot]) }],
    ['paused', 1, { answer: proberOf([pausedShoot]) }],
    ['probed 30 s ago', 0, { answer: proberOf([shootOf('a', { lastRunEndedAt: before(30) })]) }],
    ['not probed for longer', 1, { answer: proberOf([shootOf('a', { lastRunEndedAt: before(31) })]) }],
    ['a right is missing', 1, { answer: proberOf([shootOf('a')], { missingRights: ['list nodes'] }) }],
    ['a standby responded', 1, { answer: proberOf([shootOf('a')], { leads: false }) }],
    ['held and not probed', 1, { answer: proberOf([shootOf('a')], { heldUnprobed: [unprobedShoot] }) }],
    ['the requested shoot is not probed', 1, { answer: proberOf([]), wanted: 'dev/typo' }],
    ['the requested shoot is healthy', 0, { answer: proberOf([shootOf('a')]), wanted: 'dev/a' }],
    ['all paused', 1, { answer: proberOf([], { paused: { reason: 'x', by: 'y' } }) }],
    ['by objects: nothing held, and the leader does not respond', 2, { held: none }],
    ['by objects: something held', 1, { held }],
    ['by objects: no replica leads', 1, { held: none, objects: nobody }],
    ['by objects: the leader is silent', 1, { held: none, objects: silent }],
    ['by objects: all paused', 1, { held: { ...none, paused: { reason: '', by: '' } } }],
    ['by objects: some objects could not be read', 2, { held: { ...none, problems: ['no way'] }, objects: nobody }],
    ['the Lease could not be read', 2, { held: none, objects: { ...led, lease: undefined } }],
    ['held resources could not be read', 2, { objects: nobody }],
  ])('%s: %s', (_, code, findings) => {
    expect(judgeSeed(findingsOf(findings)).exitCode).toBe(code);
  });
});

describe('a requested shoot', () => {
  const attentionOf = (wanted: string, heldUnprobed: ProberStatus['heldUnprobed'] = []) =>
    judgeSeed(findingsOf({ answer: proberOf([], { heldUnprobed }), wanted })).attention;

  it('is reported if it is not probed', () => {
    expect(attentionOf('dev/typo')).toEqual([
      'the prober does not probe dev/typo: dwd status --all lists the shoots that it probes, kubectl get clusters all shoots of the seed',
    ]);
  });

  it('is reported with its held resources if it is not probed', () => {
    const line =
      'shoot--dev--three is not probed (its Cluster cannot be decoded: x), so no prober restores its held resources: kube-controller-manager, machine-controller-manager; to restore them: dwd release --shoot shoot--dev--three';
    expect(attentionOf('dev/three', [unprobedShoot])).toEqual([line]);
    expect(attentionOf('shoot--dev--three', [unprobedShoot])).toEqual([line]);
    expect(attentionOf('dev/typo', [unprobedShoot])).toEqual([expect.stringContaining('does not probe dev/typo')]);
  });
});

it('names three of the shoots that are held but not probed, and counts the others', () => {
  const heldUnprobed = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...unprobedShoot, name, namespace: name }));
  const { attention } = judgeSeed(findingsOf({ answer: proberOf([], { heldUnprobed }) }));
  expect(attention.map((line) => line.slice(0, 15))).toEqual([
    'a is not probed',
    'b is not probed',
    'c is not probed',
    '2 more shoots w',
  ]);
});

describe('attention', () => {
  it.each<[text: string, change: Partial<ProberStatus>]>([
    ['rights are missing: list nodes; get pods', { missingRights: ['list nodes', 'get pods'] }],
    ['the prober that responded does not lead', { leads: false }],
    ['all shoots are paused: nothing is scaled down', { paused: { reason: '', by: '' } }],
    [
      'an outage continues without full protection: nodes are lost (2 shoots, such as shoot--dev--x)',
      { shoots: [shootOf('x', { unmet: true }), shootOf('y', { unmet: true })] },
    ],
    [
      'ignore-scaling excludes resources from protection (1 shoot, such as shoot--dev--x)',
      { shoots: [shootOf('x', { ignored: [{ kind: 'Deployment', name: 'kcm' }] })] },
    ],
    [
      '1 of 2 shoots not probed within 30 s, such as shoot--dev--b',
      { shoots: [shootOf('a'), shootOf('b', { lastRunEndedAt: before(60) })] },
    ],
  ])('%s', (text, change) => {
    const answer = proberOf([shootOf('a')], change);
    expect(judgeSeed(findingsOf({ answer })).attention).toEqual([text]);
  });
});

it('sorts the worst shoots first, and among equals the one that has lasted longest', () => {
  const shoots = [
    shootOf('b'),
    pausedShoot,
    shootOf('late', { state: 'protected', since: before(10) }),
    shootOf('unreachable', { state: 'unreachable' }),
    shootOf('early', { state: 'protected', since: before(20) }),
    shootOf('a'),
    ignoringShoot,
    shootOf('losing', { state: 'paused', unmet: true }),
  ];
  const { shoots: sorted, prober } = judgeSeed(findingsOf({ answer: proberOf(shoots) }));
  expect(sorted.map(({ name }) => name)).toEqual(['losing', 'early', 'late', 'unreachable', 'two', 'twin', 'a', 'b']);
  expect(prober).not.toHaveProperty('shoots');
});
