import { describe, expect, it } from 'vitest';
import { stateInWords } from './judge-seed.ts';
import { judgeShoot } from './judge-shoot.ts';
import type { ShootFacts, ShootState } from './schema.ts';
import { type Situation, context, factsIn, factsOf, situationNames, toldOf } from './testing/facts.ts';

/** What is told of a shoot, without the parts that are empty. */
const told = (all: readonly Situation[], dryRun = false): readonly string[] => {
  const { why, next, do: what, runbook, ...shoot } = toldOf(factsIn('one', ...all), { dryRun });
  return [stateInWords(shoot), why, next.text, what, runbook ?? ''];
};

const held = 'held: kube-controller-manager, machine-controller-manager, cluster-autoscaler';
const secret = '401 Unauthorized (Secret shoot--dev--one/dwd-prober, key kubeconfig)';

describe('one thing', () => {
  it.each<[all: readonly Situation[], told: readonly string[]]>([
    [[], ['healthy', '0/12 expired', 'next probe', '', '']],
    [
      ['outage', 'up'],
      [
        'LOSING NODES',
        '12/12 expired; kube-controller-manager is still up',
        'tries again at the next probe',
        'see why kube-controller-manager is not scaled down',
        'DwdOutageUnmet',
      ],
    ],
    [
      ['silent', 'writeRefused'],
      [
        'LOSING NODES',
        '12/12 silent for 22s; kube-controller-manager could not be scaled: 403 from webhook limits.example',
        'tries again at the next probe',
        'mend what keeps the prober from scaling it',
        'DwdOutageUnmet',
      ],
    ],
    [
      ['refused'],
      [
        'BLIND',
        `${secret}; as of 11:59:14 0/12 expired`,
        'next probe',
        'renew the Secret shoot--dev--one/dwd-prober',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['unreachable'],
      [
        'BLIND',
        'connect ECONNREFUSED (api.one.example:443); as of 11:59:14 0/12 expired',
        'next probe',
        'mend its API server, or the way to it',
        'DwdShootUnprotected',
      ],
    ],
    [['failedOnce'], ['healthy', '0/12 expired; the last probe failed: 503 not now', 'next probe', '', '']],
    [
      ['noRight'],
      [
        'NOT PROTECTED',
        'its nodes cannot be listed: 403 nodes is forbidden',
        'protected once that is mended',
        'grant the right that is missing',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['oneNode'],
      [
        'NOT PROTECTED',
        '1 of 3 nodes count, and an outage shows by two at least; not counted: 2 (its Machine has failed)',
        'protected once that is mended',
        'mend the nodes that do not count',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['missing'],
      [
        'NOT PROTECTED',
        'there is no kube-controller-manager to scale down',
        'protected once that is mended',
        'create kube-controller-manager, or make it optional in the configuration',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['notServed'],
      [
        'NOT PROTECTED',
        'the seed does not serve kube-controller-manager, so it cannot be scaled down',
        'protected once that is mended',
        'install the kind of kube-controller-manager, or remove it from the configuration',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['ignored'],
      [
        'NOT PROTECTED',
        'ignore-scaling keeps kube-controller-manager up in an outage',
        'protected once that is mended',
        'to end that: kubectl -n shoot--dev--one annotate deployment/kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['shortGrace'],
      [
        'NOT PROTECTED',
        'KCM gives up a node after 10s, and an outage shows after 13s at the earliest',
        'protected once that is mended',
        'make the node monitor grace period longer',
        'DwdShootUnprotected',
      ],
    ],
    [
      ['paused'],
      [
        'PAUSED',
        'paused until 2026-01-01T14:00:00Z: LB maintenance (jo)',
        'protected again when the pause ends',
        'to protect it now: dwd resume --shoot shoot--dev--one',
        'DwdPausedLong',
      ],
    ],
    [
      ['silent', 'held'],
      ['HELD', `12/12 silent for 22s; ${held}`, 'restored when its nodes renew', '', 'DwdHeld'],
    ],
    [
      ['landing', 'held'],
      [
        'LANDING',
        '7 of 12 nodes renew again, not yet: node-3',
        'restored when all renew, at the latest',
        '',
        'DwdHeld',
      ],
    ],
    [
      ['restoring', 'held'],
      [
        'RESTORING',
        `0/12 expired; ${held}`,
        'restoring: 1 of 3 done; machine-controller-manager follows after its initialDelay',
        '',
        'DwdHeld',
      ],
    ],
    [
      ['flapping'],
      [
        'FLAPPING',
        'an outage came within ten minutes of the restoration before',
        'the next restoration waits longer; next probe',
        '',
        'DwdFlapping',
      ],
    ],
    [['confirming'], ['CONFIRMING', '8/12 expired', 'looks again', '', '']],
    [['hibernated'], ['not probed', 'hibernation is enabled', '', '', '']],
    [['notYet'], ['not probed', 'its first probe has not ended yet', 'first probe', '', '']],
  ])('%j', (all, expected) => {
    expect(told(all)).toEqual(expected);
  });

  it('in a dry run', () => {
    expect(told([], true)).toEqual([
      'NOT PROTECTED',
      'dry run: nothing is written in an outage',
      'protected once that is mended',
      'run the prober without --dry-run',
      'DwdShootUnprotected',
    ]);
    expect(told(['outage', 'up'], true)[1]).toBe('dry run: nothing is written, although 12/12 expired');
  });
});

describe('two things at once', () => {
  it.each<[all: readonly Situation[], state: string, why: RegExp, next: string, what: string]>([
    [
      ['silent', 'held', 'refused'],
      'HELD, BLIND',
      /^401 Unauthorized .*; as of 11:59:14 12\/12 silent for 22s; held: /,
      'cannot be restored until its API server can be read; next probe',
      'renew the Secret shoot--dev--one/dwd-prober; nothing is restored before',
    ],
    [
      ['landing', 'held', 'unreachable'],
      'HELD, BLIND',
      /^connect ECONNREFUSED/,
      'cannot be restored until its API server can be read; next probe',
      'mend its API server, or the way to it; nothing is restored before',
    ],
    [
      ['held', 'noRight'],
      'HELD, BLIND',
      /^its nodes cannot be listed: 403/,
      'cannot be restored until its nodes can be listed; next probe',
      'grant the right that is missing; nothing is restored before',
    ],
    [
      ['outage', 'up', 'refused'],
      'BLIND',
      /as of 11:59:14 12\/12 expired, and kube-controller-manager was still up$/,
      'next probe',
      'renew the Secret shoot--dev--one/dwd-prober',
    ],
    [
      ['refused', 'paused'],
      'BLIND',
      /; paused until 2026/,
      'next probe',
      'renew the Secret shoot--dev--one/dwd-prober',
    ],
    [['refused', 'ignored'], 'BLIND', /^401/, 'next probe', 'renew the Secret shoot--dev--one/dwd-prober'],
    [
      ['outage', 'up', 'paused'],
      'LOSING NODES',
      /still up; paused until 2026/,
      'nothing is scaled down while it is paused',
      'to protect it now: dwd resume --shoot shoot--dev--one',
    ],
    [
      ['outage', 'ignored', 'up'],
      'LOSING NODES',
      /kube-controller-manager is still up/,
      'tries again at the next probe',
      'to end that: kubectl -n shoot--dev--one annotate deployment/kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-',
    ],
    [
      ['outage', 'held', 'ignored'],
      'HELD, NOT PROTECTED',
      /^12\/12 expired; held: .*; ignore-scaling keeps kube-controller-manager up in an outage/,
      'protected once that is mended',
      'to end that: kubectl -n shoot--dev--one annotate deployment/kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-',
    ],
    [
      ['landing', 'held', 'ignoredDown'],
      'LANDING',
      /ignore-scaling keeps kube-controller-manager down: nothing restores it/,
      'restored when all renew, at the latest',
      'to end that: kubectl -n shoot--dev--one annotate deployment/kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-',
    ],
    [
      ['ignoredDown'],
      'NOT PROTECTED',
      /keeps kube-controller-manager down/,
      'protected once that is mended',
      'to end that: kubectl -n shoot--dev--one annotate deployment/kube-controller-manager dependency-watchdog.gardener.cloud/ignore-scaling-',
    ],
    [
      ['outage', 'held', 'up'],
      'LOSING NODES',
      /kube-controller-manager is still up/,
      'tries again at the next probe',
      'see why kube-controller-manager is not scaled down',
    ],
    [['outage', 'held', 'paused'], 'HELD', /; paused until 2026/, 'restored when its nodes renew', ''],
    [
      ['outage', 'held', 'failedOnce'],
      'HELD',
      /; the last probe failed: 503 not now/,
      'restored when its nodes renew',
      '',
    ],
    [['oneNode', 'held'], 'HELD', /^0\/1 expired/, 'restored when its nodes renew', ''],
    [
      ['paused', 'ignored'],
      'PAUSED',
      /^paused until/,
      'protected again when the pause ends',
      'to protect it now: dwd resume --shoot shoot--dev--one',
    ],
    [
      ['missing', 'oneNode'],
      'NOT PROTECTED',
      /^there is no kube-controller-manager/,
      'protected once that is mended',
      'create kube-controller-manager, or make it optional in the configuration',
    ],
    [
      ['landing', 'held', 'flapping'],
      'LANDING',
      /flapping, so all must renew for two minutes/,
      'restored when all renew, at the latest',
      '',
    ],
    [
      ['hibernated', 'held'],
      'HELD, NOT PROBED',
      /^hibernation is enabled; held: /,
      'its held resources are given back',
      '',
    ],
    [
      ['undecodable', 'held'],
      'HELD, NOT PROBED',
      /^its Cluster cannot be decoded: x; held: /,
      'nothing restores them by itself',
      'to restore them: dwd release --shoot shoot--dev--one',
    ],
    [['hibernated', 'paused'], 'not probed', /^hibernation is enabled$/, '', ''],
    [['notYet', 'failedOnce'], 'not probed', /^its first probe failed: 503 not now/, 'first probe', ''],
    [
      ['notYet', 'refused', 'held'],
      'HELD, BLIND',
      /its leases were never read|as of/,
      'cannot be restored until its API server can be read; next probe',
      'renew the Secret shoot--dev--one/dwd-prober; nothing is restored before',
    ],
  ])('%j: %s', (all, state, why, next, what) => {
    const [shown, reason, step, remedy] = told(all);
    expect([shown, step, remedy]).toEqual([state, next, what]);
    expect(reason).toMatch(why);
  });
});

describe('every pair', () => {
  const pairs = situationNames.flatMap((one, index) =>
    situationNames.slice(index + 1).map((other) => [one, other] as const),
  );

  const isBlindIn = ({ failing }: ShootFacts): boolean => failing !== undefined && failing.runs > 2;

  it.each(pairs)('%s and %s: never says more than is known', (...pair) => {
    const facts = factsIn('one', ...pair);
    const shoot = toldOf(facts);
    const all = [shoot.why, shoot.next.text, shoot.do].filter((text) => text !== '').join(' ');
    expect(shoot.why).not.toBe('');
    expect(all).not.toMatch(/undefined|NaN|  |; ;|: ;|;$/);
    if (facts.notProbed !== undefined) expect(shoot.state).toBe<ShootState>('not probed');
    else if (isBlindIn(facts)) {
      expect(['blind', 'not protected']).toContain(shoot.state);
      // Ages and counts of a shoot that cannot be seen are told as of the last look.
      const counted = /\d+\/\d+ (?:expired|silent)/.exec(shoot.why);
      if (counted !== null) expect(shoot.why.slice(0, counted.index)).toMatch(/as of \d\d:\d\d:\d\d $/);
      expect(all).not.toMatch(/outage continues|restored when/);
    }
    // A held resource is never kept quiet.
    if (facts.held.length > 0) expect(`${shoot.why} ${shoot.next.text}`).toMatch(/held|restor|renew/);
  });
});

describe('a shoot is blind', () => {
  const blindAfter = (runs: number, seconds: number): boolean => {
    const since = new Date(context.now - seconds * 1_000).toISOString();
    const failing = { since, runs, read: 'leases', reason: 'x', kind: 'answer' } as const;
    return judgeShoot(factsOf('one', { failing }), context).state === 'blind';
  };

  it('after three failed runs, or three intervals', () => {
    expect([blindAfter(1, 2), blindAfter(2, 29), blindAfter(3, 6), blindAfter(1, 30)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
