import { describe, expect, it } from 'vitest';
import type { Scenario } from '../harness/scenario.ts';
import { type About, aboutLines } from './about.ts';
import { render } from './line.ts';
import { type LiveOptions, runLive } from './live.ts';
import { scriptedKeys } from './script.ts';
import { type DemoFixtureOptions, createDemoFixture } from './testing/fixture.ts';

const about: About = {
  source: 'gardener',
  shoots: 4,
  seedKubeconfig: '/tmp/d/seed.kubeconfig',
  shootKubeconfigs: ['/tmp/d/alpha.kubeconfig'],
  cluster: 'shoot--sim--charlie',
};

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
  const { scenario, stage } = createDemoFixture({ seed: 0 });
  const { clock } = scenario;
  const lines: string[] = [];
  let type: (input: string) => void = () => undefined;
  const ended = runLive({
    stage,
    about,
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
      await scenario.stop();
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

  it('explains in at most 80 columns how the times were shortened, and where the files are', async () => {
    const { press, leave } = await takeSeat();
    const lines = aboutLines(about);
    expect(await press('?', 0)).toContain(lines.join('\n'));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const copy of ['export KUBECONFIG=/tmp/d/seed.kubeconfig', '/tmp/d/alpha.kubeconfig']) {
      expect(lines).toContain(`  ${copy}`);
    }
    // The demo deletes its files at its end, so that a path of a log would lead nowhere then.
    expect(lines.join(' ')).toContain('logs are beside them until the demo ends');
    expect(lines.join(' ')).not.toContain('.log');
    const shortened = ['leases every 5s', 'after 22.5s', 'after 30s', '20 times as fast'];
    for (const part of [...shortened, 'The shoot twin is not protected']) expect(lines.join(' ')).toContain(part);
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

/** Plays the script to its end. Returns the lines, with their times. */
const playScript = async (options: DemoFixtureOptions = {}): Promise<readonly string[]> => {
  const { scenario, stage } = createDemoFixture(options);
  const { clock } = scenario;
  const { signal } = new AbortController();
  const lines: string[] = [];
  const print: LiveOptions['print'] = (line) => void lines.push(...render(line, clock.monotonic()));
  await clock.run(runLive({ stage, about, listen: scriptedKeys({ stage, clock, signal }), print, clock, signal }));
  await scenario.stop();
  return lines;
};

/** The lines about one shoot, without the times. */
const linesAbout = (lines: readonly string[], shoot: string): string =>
  lines.flatMap((line) => new RegExp(`^ *\\S+ {2}${shoot} +(.*)$`).exec(line)?.[1] ?? []).join('\n');

describe('the demo with a script in front of it', () => {
  it.each([undefined, 1, 2])(
    'shows the work of both watchdogs, and tells of each shoot only what happens to it (seed %s)',
    async (seed) => {
      const lines = await playScript({ seed });
      expect(linesAbout(lines, 'alpha')).toMatch(
        /^its kubelets are cut off$[^]*^confirming: 5\/5 silent for [^]*^machine-controller-manager +1 -> 0$[^]*^ *annotated replicas=2, [^]*^its kubelets are connected$[^]*^landing: [^]*^kube-controller-manager +0 -> 2$[^]*^machine-controller-manager +ready again$/m,
      );
      expect(linesAbout(lines, 'alpha')).not.toMatch(/etcd|weeder|crash|Unknown|MCM/);
      expect(linesAbout(lines, 'bravo')).toMatch(
        /^its etcd is killed$[^]*^kube-apiserver is down$[^]*^crash loop: kube-apiserver waits [^]*^its etcd is mended$[^]*^the weeder deleted kube-apiserver-[^]*^cluster-autoscaler +ready again$/m,
      );
      expect(linesAbout(lines, 'bravo')).not.toMatch(/annotated|Unknown/);
      expect(linesAbout(lines, 'twin')).not.toMatch(/the weeder/);
      expect(linesAbout(lines, 'charlie')).toBe('');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      const upAt = (shoot: string): number =>
        lines.findLastIndex((line) => new RegExp(`${shoot} +kube-apiserver +ready again$`).test(line));
      expect(upAt('twin')).toBeGreaterThan(upAt('bravo'));
    },
  );

  it.each(['gardener', 'secret'] as const)('shows the damage if no watchdog runs: source %s', async (source) => {
    const alpha = linesAbout(await playScript({ source, withWatchdogs: false }), 'alpha');
    expect(alpha).toMatch(/^KCM has given up [^]*: 0 of 5 Ready$[^]*^MCM deleted healthy machine shoot--sim--alpha-/m);
  });
});
