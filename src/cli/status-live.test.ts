import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { ProbedShoot } from '../prober/status/index.ts';
import type { SeedStatus } from '../status/index.ts';
import { judgeSeed } from '../status/judge.ts';
import {
  before,
  findingsOf,
  ignoringShoot,
  pausedShoot,
  protectedShoot,
  shootOf,
  statusOf,
} from '../status/testing/statuses.ts';
import { watchLive } from './status-live.ts';
import type { TerminalListeners } from './terminal.ts';

const leases = [
  { name: 'worker-1', renewedAt: before(5), ageMs: 5_000, expired: false, counted: true },
  { name: 'worker-2', renewedAt: before(35), ageMs: 35_000, expired: true, counted: true },
];

const open = (
  first: readonly ProbedShoot[],
  found: (shoots: readonly ProbedShoot[]) => SeedStatus = (shoots) => statusOf(...shoots),
) => {
  const clock = createVirtualClock();
  let shoots = first;
  let drawn: readonly string[] = [];
  let listeners: TerminalListeners | undefined;
  const log: string[] = [];
  const ended = watchLive({
    clock,
    stop: new AbortController().signal,
    terminal: {
      size: () => ({ columns: 100, rows: 24 }),
      take: (given) => {
        listeners = given;
      },
      draw: (lines) => {
        drawn = lines;
      },
      restore: () => void log.push('restored'),
    },
    read: async (shoot) => {
      const status = found(shoots);
      if (shoot === undefined) return status;
      const own = status.shoots.filter(({ namespace }) => namespace === shoot).map((one) => ({ ...one, leases }));
      return { ...status, shoots: own };
    },
  });
  return {
    clock,
    log,
    ended,
    screen: () => drawn.join('\n'),
    press: (keys: string) => listeners?.onKeys(keys),
    become: (now: readonly ProbedShoot[]) => {
      shoots = now;
    },
  };
};

describe('dwd status -w in a terminal', () => {
  it('shows all shoots, the selected one in full, and what changes', async () => {
    const { clock, screen, press, become, ended, log } = open([shootOf('a'), protectedShoot]);
    await clock.advance(0);
    expect(screen()).toMatch(/^dwd status +0:00 +dwd-prober-a_1f leads/);
    expect(screen()).toMatch(/\n> 1 +dev\/one +LANDING +12\/12 expired +3m12s +kcm 2, mcm 1, ca 1 +landing: 7 of 12/);
    expect(screen()).toMatch(/\n {2}2 +dev\/a +healthy +0\/12 expired/);
    expect(screen()).toMatch(/\ndev\/one +12\/12 node leases expired/);
    expect(screen()).toMatch(/worker-2 +35\.0s #+\.*/);
    expect(screen()).toContain('kube-controller-manager    held, was 2');
    become([shootOf('a', { state: 'unreachable', reason: 'no answer' }), protectedShoot]);
    await clock.advance(2_000);
    expect(screen()).toMatch(/0:02 +dev\/a +unreachable: no answer/);
    press('q');
    await clock.advance(0);
    expect(await ended).toBe(1);
    expect(log).toEqual(['restored']);
  });

  it('marks an outage without protection, and healthy shoots that are not protected', async () => {
    const { clock, screen, press, ended } = open([ignoringShoot, { ...pausedShoot, unmet: true, expired: 5 }]);
    await clock.advance(0);
    expect(screen()).toMatch(/\n> 1 +dev\/two +! PAUSED +5\/5 expired/);
    expect(screen()).toMatch(/\n {2}2 +dev\/twin +NOT PROTECTED +0\/12 expired/);
    press('q');
    await clock.advance(0);
    expect(await ended).toBe(1);
  });

  it('scrolls through more shoots than there are rows', async () => {
    const many = Array.from({ length: 100 }, (_, index) => shootOf(`s${String(100 + index)}`));
    const { clock, screen, press, ended } = open(many);
    await clock.advance(0);
    expect(screen()).toContain('dev/s100');
    expect(screen()).not.toContain('dev/s140');
    for (const key of ['\u001b[6~', '\u001b[6~', '\u001b[6~', '\u001b[6~', '\u001b[B']) press(key);
    await clock.advance(2_000);
    expect(screen()).toMatch(/\n> 42 +dev\/s141 /);
    for (const key of ['k', '\u001b[5~']) press(key);
    expect(screen()).toMatch(/\n> 31 +dev\/s130 /);
    press('\u0003');
    await clock.advance(0);
    expect(await ended).toBe(0);
  });

  it('shows who leads on a separate page, and in place of the shoots if there are none', async () => {
    const { clock, screen, press } = open([pausedShoot]);
    await clock.advance(0);
    press('i');
    expect(screen()).toContain('Standby, hot: dwd-prober-b (0.1.0).');
    press('i');
    expect(screen()).not.toContain('Standby');
    press('q');
    const nothing = open([], () => judgeSeed(findingsOf({ problems: ['no way'] })));
    await nothing.clock.advance(0);
    expect(nothing.screen()).toContain('? no way');
    nothing.press('q');
    await nothing.clock.advance(0);
    expect(await nothing.ended).toBe(2);
  });
});
