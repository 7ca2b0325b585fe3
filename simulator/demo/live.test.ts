import { describe, expect, it } from 'vitest';
import type { Scenario } from '../harness/scenario.ts';
import { type LiveTerminal, runLive } from './live.ts';
import { createDemoFixture } from './testing/fixture.ts';

interface Seat {
  readonly scenario: Scenario;
  /** Returns the current screen. */
  readonly screen: () => string;
  /** Presses keys and lets seconds pass. */
  readonly press: (keys: string, seconds: number) => Promise<void>;
  readonly resize: (columns: number, rows: number) => void;
  readonly ended: Promise<unknown>;
  readonly leave: () => Promise<void>;
}

/** Starts the demo with a simulated user, in memory and on virtual time. */
const takeSeat = async (signal = new AbortController().signal): Promise<Seat> => {
  const { scenario, source, stop } = createDemoFixture('live', { withProber: true, withWeeder: true }, 0);
  const { clock } = scenario;
  let size = { columns: 100, rows: 40 };
  let lines: readonly string[] = [];
  let listeners: Parameters<LiveTerminal['take']>[0] | undefined;
  const ended = runLive({
    source,
    about: { pace: 'live', seedKubeconfig: '', shootKubeconfigs: [], careConfig: '', cluster: '' },
    terminal: {
      size: () => size,
      draw: (drawn) => {
        lines = drawn;
      },
      take: (given) => {
        listeners = given;
      },
    },
    paint: (_, text) => text,
    clock,
    signal,
  });
  const seat: Seat = {
    scenario,
    screen: () => lines.join('\n'),
    press: (keys, seconds) => {
      listeners?.onKeys(keys);
      return clock.advance(seconds * 1_000);
    },
    resize: (columns, rows) => {
      size = { columns, rows };
      listeners?.onResize();
    },
    ended: ended.catch((error: unknown) => error),
    leave: async () => {
      listeners?.onKeys('q');
      await clock.advance(1_000);
      await seat.ended;
      await stop();
    },
  };
  await clock.advance(5_000);
  return seat;
};

describe('the demo with a user in front of it', () => {
  it('shows a shoot that is cut off beside its twin, during the outage and after it', async () => {
    const { screen, press, leave } = await takeSeat();
    expect(screen()).toMatch(/> 1 alpha +healthy +0\/5 expired/);
    await press('c', 32);
    expect(screen()).toMatch(/^alpha {2}cut off +twin {2}cut off/m);
    expect(screen()).toMatch(/> 1 alpha +HELD +5\/5 expired +\d+s +kcm 2, mcm 1, ca 1 /);
    expect(screen()).toMatch(/4 twin +NOT PROTECTED +\d\/5 expired .* ignore-/);
    expect(screen()).toMatch(/^kube-controller-manager +held, was 2 +kube-controller-manager +2\/2/m);
    expect(screen()).toContain('annotated replicas=2, meltdown-protection-active');
    await press('', 30);
    expect(screen()).toMatch(/^alpha {2}cut off +twin {2}cut off, lost [1-9]\d* nodes?, [1-9]/m);
    expect(screen()).toMatch(/twin +MCM deleted healthy machine/);
    await press('r', 25);
    expect(screen()).toMatch(/> 1 alpha +healthy +0\/5 expired/);
    expect(screen()).toMatch(/^alpha +twin {2}lost/m);
    expect(screen()).toMatch(/^kube-controller-manager +2\/2 +kube-controller-manager +2\/2/m);
    await leave();
  });

  it('shows a crash loop, and how the weeder ends it', async () => {
    const { screen, press, leave } = await takeSeat();
    await press('2e', 25);
    expect(screen()).toMatch(/> 2 bravo +BLIND +- /);
    expect(screen()).toMatch(/^kube-apiserver +waits \d+s +kube-apiserver +waits \d+s/m);
    await press('m', 4);
    expect(screen()).toMatch(/bravo +the weeder deleted kube-apiserver-/);
    expect(screen()).toMatch(/^kube-scheduler +1\/1 +kube-scheduler +waits \d+s/m);
    await press('', 40);
    expect(screen()).toMatch(/^kube-scheduler +1\/1 +kube-scheduler +1\/1/m);
    await leave();
  });

  it.each([4, 10, 13, 16, 20])(
    'does not scale a shoot down because its kube-apiserver was away for %i seconds',
    async (seconds) => {
      const { screen, press, scenario, leave } = await takeSeat();
      await press('e', seconds);
      await press('m', 20);
      expect(screen()).toMatch(/> 1 alpha +healthy +0\/5 expired/);
      expect(scenario.log.filter(({ msg }) => msg === 'scaled down')).toEqual([]);
      await leave();
    },
  );

  it('injects no fault into the twin if the twin does not follow', async () => {
    const { press, scenario, screen, leave } = await takeSeat();
    await press('tc', 5);
    expect(screen()).toMatch(/^alpha {2}cut off +twin *$/m);
    expect(scenario.world.shoot('twin').impact().nodesTurnedUnknown).toBe(0);
    await leave();
  });

  it('reacts to keys at once, and redraws when the size changes', async () => {
    const { press, resize, screen, leave } = await takeSeat();
    await press('3', 0);
    expect(screen()).toContain('> 3 charlie');
    resize(60, 12);
    expect(
      screen()
        .split('\n')
        .map((row) => row.length),
    ).toEqual(Array.from({ length: 12 }, () => 60));
    await press('?', 0);
    expect(screen()).toContain('A simulated seed');
    await leave();
  });

  it('shows that the seed does not respond, and continues when it does', async () => {
    const { press, scenario, screen, leave } = await takeSeat();
    scenario.world.api.setReachability('refused');
    await press('c', 5);
    expect(screen()).toContain('no response: ');
    scenario.world.api.setReachability('open');
    await press('c', 2);
    expect(screen()).toMatch(/^alpha {2}cut off/m);
    await leave();
  });

  it.each(['q', '\u0003', '\u0004'])('quits on %j', async (key) => {
    const { press, scenario, ended, leave } = await takeSeat();
    await press(key, 0);
    expect(await scenario.clock.run(ended)).toBeUndefined();
    await leave();
  });

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const { scenario, ended, leave } = await takeSeat(stop.signal);
    const reason = new Error('received SIGTERM');
    stop.abort(reason);
    expect(await scenario.clock.run(ended)).toBe(reason);
    await leave();
  });
});
