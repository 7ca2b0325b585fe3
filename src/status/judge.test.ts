import { expect, it } from 'vitest';
import type { ProberStatus, ShootFacts } from './state/schema.ts';
import { factsIn, toldOf } from './state/testing/facts.ts';
import { type SeedFindings, type StatusExitCode, judgeSeed } from './judge.ts';
import {
  before,
  blindShoot,
  findingsOf,
  ignoringShoot,
  landingShoot,
  losingShoot,
  pausedShoot,
  proberOf,
  shootOf,
  unprobedShoot,
} from './testing/statuses.ts';

const led = findingsOf().objects;
const nobody = { ...led, lease: { holder: '', isFresh: false } };
const silent = { ...led, lease: { holder: 'dwd-prober-a_1f', isFresh: false } };
const standby = proberOf([shootOf('a')], { leads: false });
const none = { shoots: [], total: 3, paused: null, problems: [] };
const held = { ...none, shoots: [landingShoot] };

const newShoot = (given: Partial<ShootFacts>) =>
  shootOf('a', { lastRunEndedAt: undefined, lookedAt: undefined, verdict: undefined, nextRunAt: undefined, ...given });

it.each<[what: string, code: StatusExitCode, findings: Partial<SeedFindings>]>([
  ['all healthy', 0, { answer: proberOf([shootOf('a'), shootOf('b')]) }],
  ['no shoots', 0, { answer: proberOf([]) }],
  ['held', 1, { answer: proberOf([shootOf('a'), landingShoot]) }],
  ['healthy with ignore-scaling', 1, { answer: proberOf([ignoringShoot]) }],
  ['paused', 1, { answer: proberOf([pausedShoot]) }],
  ['blind', 1, { answer: proberOf([blindShoot]) }],
  ['probed 30 s ago', 0, { answer: proberOf([shootOf('a', { lastRunEndedAt: before(30) })]) }],
  ['its first probe is still to come', 0, { answer: proberOf([newShoot({ nextRunAt: before(-20) })]) }],
  ['its first probe is under way', 0, { answer: proberOf([newShoot({})]) }],
  ['its first probe failed', 1, { answer: proberOf([toldOf(factsIn('a', 'notYet', 'failedOnce'))]) }],
  ['its first probe was due 31 s ago', 1, { answer: proberOf([newShoot({ nextRunAt: before(31) })]) }],
  ['not probed for longer', 1, { answer: proberOf([shootOf('a', { lastRunEndedAt: before(31) })]) }],
  ['a right is missing', 1, { answer: proberOf([shootOf('a')], { missingRights: ['list nodes'] }) }],
  ['a standby responded', 2, { answer: standby }],
  ['a standby responded, and no replica leads', 1, { answer: standby, objects: nobody }],
  ['hibernated', 0, { answer: proberOf([shootOf('a', { notProbed: { reason: 'x', givesBack: true } })]) }],
  ['held and not probed', 1, { answer: proberOf([shootOf('a'), unprobedShoot]) }],
  ['all paused', 1, { answer: proberOf([], { paused: { reason: 'x', by: 'y' } }) }],
  ['by objects: nothing held, and the leader does not respond', 2, { held: none }],
  ['by objects: something held', 1, { held }],
  ['by objects: no replica leads', 1, { held: none, objects: nobody }],
  ['by objects: the leader is silent', 1, { held: none, objects: silent }],
  ['by objects: all paused', 1, { held: { ...none, paused: { reason: '', by: '' } } }],
  ['by objects: some objects could not be read', 2, { held: { ...none, problems: ['no way'] }, objects: nobody }],
  ['the Lease could not be read', 2, { held: none, objects: { ...led, lease: undefined } }],
  ['held resources could not be read', 2, { objects: nobody }],
])('the exit code %s: %s', (_, code, findings) => {
  expect(judgeSeed(findingsOf(findings)).exitCode).toBe(code);
});

it.each<[text: string, change: Partial<ProberStatus>]>([
  ['rights are missing: list nodes; get pods', { missingRights: ['list nodes', 'get pods'] }],
  ['all shoots are paused: nothing is scaled down', { paused: { reason: '', by: '' } }],
  [
    '1 shoot of 2 not probed within 30 s, such as shoot--dev--b',
    { shoots: [shootOf('a'), shootOf('b', { lastRunEndedAt: before(60) })] },
  ],
])('attention %s', (text, change) => {
  const answer = proberOf([shootOf('a')], change);
  expect(judgeSeed(findingsOf({ answer })).attention).toEqual([text]);
});

it('sorts the most urgent shoots first, and names the seed', () => {
  const shoots = [shootOf('b'), unprobedShoot, landingShoot, pausedShoot, ignoringShoot, blindShoot, losingShoot];
  const status = judgeSeed(findingsOf({ answer: proberOf(shoots) }));
  expect(status.shoots.map(({ state }) => state)).toEqual([
    'losing nodes',
    'blind',
    'not protected',
    'paused',
    'not probed',
    'landing',
    'healthy',
  ]);
  expect(status.prober).not.toHaveProperty('shoots');
  expect(status.seed).toBe('aws-eu10');
  expect(judgeSeed(findingsOf({ held: none })).seed).toBe('of context test');
});
