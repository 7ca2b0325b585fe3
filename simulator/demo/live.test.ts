import { describe, expect, it } from 'vitest';
import type { Scenario } from '../harness/scenario.ts';
import { runLive } from './live.ts';
import { createDemoFixture } from './testing/fixture.ts';

interface Seat {
  readonly scenario: Scenario;
  /** Returns all lines so far, such as `alpha: held: ...`. */
  readonly lines: () => string;
  /** Presses keys and lets seconds pass. Returns the lines that this has added. */
  readonly press: (keys: string, seconds: number) => Promise<string>;
  readonly ended: Promise<unknown>;
  readonly leave: () => Promise<void>;
}

/** Starts the demo with a simulated user, in memory and on virtual time. */
const takeSeat = async (signal = new AbortController().signal): Promise<Seat> => {
  const { scenario, stage, stop } = createDemoFixture('live', { withProber: true, withWeeder: true }, 0);
  const { clock } = scenario;
  const lines: string[] = [];
  let type: (input: string) => void = () => undefined;
  const ended = runLive({
    stage,
    about: { pace: 'live', seedKubeconfig: '', shootKubeconfigs: [], careConfig: '', cluster: '' },
    listen: (onKeys) => {
      type = onKeys;
    },
    print: ({ about, text }) => lines.push(about === '' ? text : `${about}: ${text}`),
    clock,
    signal,
  });
  const seat: Seat = {
    scenario,
    lines: () => lines.join('\n'),
    press: async (keys, seconds) => {
      const from = lines.length;
      type(keys);
      await clock.advance(seconds * 1_000);
      return lines.slice(from).join('\n');
    },
    ended: ended.catch((error: unknown) => error),
    leave: async () => {
      type('q');
      await clock.advance(1_000);
      await seat.ended;
      await stop();
    },
  };
  await clock.advance(5_000);
  return seat;
};

describe('the demo with a user in front of it', () => {
  it('tells of a shoot that is cut off and of its twin, during the outage and after it', async () => {
    const { lines, press, leave } = await takeSeat();
    expect(lines()).toMatch(/^keys: 1-4 pick \(alpha\) {2}c cut/);
    const cut = await press('c', 62);
    expect(cut).toMatch(/^alpha: its kubelets are cut off$/m);
    expect(cut).toMatch(/^twin: its kubelets are cut off$/m);
    expect(cut).toMatch(/^alpha: held: /m);
    expect(cut).toMatch(/^alpha: kube-controller-manager +2 -> 0$/m);
    expect(cut).toMatch(/^twin: MCM deleted healthy machine /m);
    expect(cut).not.toMatch(/^alpha: MCM deleted/m);
    const connected = await press('r', 25);
    expect(connected).toMatch(/^alpha: kube-controller-manager +0 -> 2$/m);
    expect(connected).toMatch(/^alpha: healthy: /m);
    await leave();
  });

  it('tells of a crash loop, and how the weeder ends it', async () => {
    const { press, leave } = await takeSeat();
    const broken = await press('2e', 25);
    expect(broken).toMatch(/^the next fault hits bravo and twin$/m);
    expect(broken).toMatch(/^bravo: blind: /m);
    expect(broken).toMatch(/^bravo: crash loop: kube-apiserver waits /m);
    const mended = await press('m', 44);
    expect(mended).toMatch(/^bravo: the weeder deleted kube-apiserver-/m);
    expect(mended).toMatch(/^bravo: kube-scheduler +ready again$/m);
    await leave();
  });

  it.each([4, 10, 13, 16, 20])(
    'does not scale a shoot down because its kube-apiserver was away for %i seconds',
    async (seconds) => {
      const { press, scenario, leave } = await takeSeat();
      await press('e', seconds);
      expect(await press('m', 20)).toMatch(/^alpha: its etcd is mended$/m);
      expect(scenario.log.filter(({ msg }) => msg === 'scaled down')).toEqual([]);
      await leave();
    },
  );

  it('injects no fault into the twin if the twin does not follow', async () => {
    const { press, scenario, leave } = await takeSeat();
    expect(await press('tc', 5)).not.toMatch(/^twin: /m);
    expect(scenario.world.shoot('twin').impact().nodesTurnedUnknown).toBe(0);
    await leave();
  });

  it('explains itself', async () => {
    const { press, leave } = await takeSeat();
    expect(await press('?', 0)).toContain('A simulated seed');
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
