import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stateInWords } from '../../src/status/state/judge-seed.ts';
import { unprotectedCauses } from '../../src/status/state/schema.ts';
import { type Situation, factsIn, situationNames, toldOf } from '../../src/status/state/testing/facts.ts';
import { root } from './markdown.ts';

/** The start of a branch, and the state that leads to it: a shoot in these situations is told with this runbook, or this alert fires, and in words of this form. */
type Branch = readonly [
  start: string,
  leads: { readonly in: readonly Situation[]; readonly told: RegExp } | 'any state of this runbook',
];

const any = 'any state of this runbook';

const branches: Readonly<Record<string, readonly Branch[]>> = {
  DwdHeld: [
    ['Do not touch what is held.', { in: ['silent', 'held'], told: /^HELD.*restored when its nodes renew/ }],
    ['Repair the path', { in: ['outage', 'held'], told: /^HELD 12\/12 expired/ }],
    ['If the nodes are fine', any],
  ],
  DwdHeldLong: [
    ['`HELD`', { in: ['silent', 'held'], told: /^HELD / }],
    ['`HELD, BLIND`', { in: ['silent', 'held', 'refused'], told: /^HELD, BLIND / }],
    ['`RESTORING`', { in: ['restoring', 'held'], told: /^RESTORING .*machine-controller-manager/ }],
    ['The nodes are back', any],
  ],
  DwdShootBlind: [
    ['`401 Unauthorized`', { in: ['silent', 'held', 'refused'], told: /401 Unauthorized \(Secret .*renew the Secret/ }],
    ['`403`', { in: ['silent', 'held', 'noRight'], told: /403 .*grant the right/ }],
    ['No answer', { in: ['silent', 'held', 'unreachable'], told: /ECONNREFUSED .*mend its API server/ }],
    ['Another answer', { in: ['silent', 'held', 'busy'], told: /503 .*find out why its API server answers so/ }],
    ['The nodes are back', any],
  ],
  DwdOutageUnmet: [
    ['Paused', { in: ['outage', 'up', 'paused'], told: /LOSING NODES .*paused until .*dwd resume/ }],
    ['`ignore-scaling`', { in: ['outage', 'up', 'ignored'], told: /LOSING NODES .*ignore-scaling-/ }],
    ['`not known whether`', { in: ['outage', 'unread'], told: /LOSING NODES .*not known whether/ }],
    ['`its pods still run`', { in: ['silent', 'held', 'stillRunning'], told: /LOSING NODES .*its pods still run/ }],
    ['None of these', { in: ['silent', 'writeRefused'], told: /LOSING NODES .*could not be scaled: 403 from webhook/ }],
  ],
  DwdHeldUnprobed: [
    [
      '`its Cluster cannot be decoded`',
      { in: ['held', 'undecodable'], told: /its Cluster cannot be decoded: x.*dwd release/ },
    ],
    ['It cannot be read since an upgrade', { in: ['held', 'undecodable'], told: /its Cluster cannot be decoded/ }],
    ['Hibernated', { in: ['held', 'hibernated'], told: /hibernation is enabled; .*its held resources are given back/ }],
    ['The kubelets are back', any],
  ],
  DwdFlapping: [
    ['Find the unstable part', { in: ['flapping'], told: /^FLAPPING .*within ten minutes/ }],
    ['If protection makes', any],
    ['The alert ends', any],
  ],
  DwdPausedLong: [
    ['Ask who ordered it', { in: ['paused'], told: /^PAUSED .*\(jo\).*dwd resume/ }],
    ['If it is intended', any],
  ],
};

/** Situations of the rows of DwdShootUnprotected. */
const causes: Readonly<Record<string, Situation>> = {
  blind: 'refused',
  'nodes-not-listed': 'noRight',
  'too-few-nodes': 'oneNode',
  missing: 'missing',
  'not-served': 'notServed',
  grace: 'shortGrace',
  'ignore-scaling': 'ignored',
};

const textOf = (runbook: string): string => readFileSync(`${root}docs/runbooks/${runbook}.md`, 'utf8');

describe.each(Object.entries(branches))('%s', (runbook, listed) => {
  it('has a state for each of its branches', () => {
    const starts = Array.from(textOf(runbook).matchAll(/^\d+\. (.*)$/gm), ([, action = '']) => action);
    expect(starts.map((action) => listed.find(([start]) => action.startsWith(start))?.[0] ?? action)).toEqual(
      listed.map(([start]) => start),
    );
  });

  it.each(listed.filter(([, leads]) => leads !== any))('"%s" is reached', (_, leads) => {
    if (leads === any) return;
    const shoot = toldOf(factsIn('one', ...leads.in));
    // The alert DwdHeldLong fires after half an hour in any of its states.
    if (runbook !== 'DwdHeldLong') expect(shoot.runbook).toBe(runbook);
    expect(shoot.held.length > 0 || runbook !== 'DwdHeldLong').toBe(true);
    expect(`${stateInWords(shoot)} ${shoot.why} ${shoot.next.text} ${shoot.do}`).toMatch(leads.told);
  });
});

it('DwdShootUnprotected has a row for each reason of its alert, and each is reached', () => {
  const rows = Array.from(textOf('DwdShootUnprotected').matchAll(/^\| `(.*?)` \|/gm), ([, reason = '']) => reason);
  const ordered = ['paused', 'dry-run'];
  expect(rows.toSorted()).toEqual(unprotectedCauses.filter((cause) => !ordered.includes(cause)).toSorted());
  expect(rows.toSorted()).toEqual(Object.keys(causes).toSorted());
  for (const [cause, situation] of Object.entries(causes)) {
    expect(toldOf(factsIn('one', situation))).toMatchObject({ causes: [cause], runbook: 'DwdShootUnprotected' });
  }
});

it('every runbook that a shoot is told with is listed here', () => {
  const told = situationNames.flatMap((one) =>
    situationNames.flatMap((other) => toldOf(factsIn('one', one, other)).runbook ?? []),
  );
  const listed = ['DwdShootUnprotected', ...Object.keys(branches)].filter((name) => name !== 'DwdHeldLong');
  expect([...new Set(told)].toSorted()).toEqual(listed.toSorted());
});
