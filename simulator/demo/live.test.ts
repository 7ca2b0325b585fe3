import { describe, expect, it } from 'vitest';
import { type About, aboutLines } from './about.ts';
import { type LiveOptions, render, runLive } from './live.ts';
import { type DemoFixtureOptions, createDemoFixture } from './testing/fixture.ts';

/** Plays the script to its end. Returns the lines, with their times. */
const playScript = async (options: DemoFixtureOptions = {}): Promise<readonly string[]> => {
  const { scenario, readStatus } = createDemoFixture(options);
  const { clock, world } = scenario;
  const { signal } = new AbortController();
  const lines: string[] = [];
  const print: LiveOptions['print'] = (line) => void lines.push(...render(line, clock.monotonic()));
  await clock.run(runLive({ world, readStatus, print, clock, signal, isScripted: true }));
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
        /^its kubelets are cut off$[^]*^confirming: 5\/5 silent for [^]*^machine-controller-manager +1 -> 0$[^]*^its kubelets are connected$[^]*^landing: [^]*^kube-controller-manager +0 -> 2$[^]*^machine-controller-manager +ready again$/m,
      );
      expect(linesAbout(lines, 'alpha')).not.toMatch(/etcd|weeder|Unknown|MCM/);
      expect(linesAbout(lines, 'bravo')).toMatch(
        /^its etcd is killed$[^]*^kube-apiserver is down$[^]*^its etcd is mended$[^]*^the weeder deleted kube-apiserver-[^]*^cluster-autoscaler +ready again$/m,
      );
      expect(linesAbout(lines, 'bravo')).not.toMatch(/Unknown/);
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
    expect(alpha).toMatch(
      /^its kubelets are cut off$[^]*^KCM has given up [^]*: 0 of 5 Ready$[^]*^MCM deleted healthy machine shoot--sim--alpha-/m,
    );
  });
});

describe('the demo without a script', () => {
  it('ends with the reason of its signal', async () => {
    const { scenario, readStatus } = createDemoFixture();
    const { clock, world } = scenario;
    const stop = new AbortController();
    const live = { world, readStatus, clock, signal: stop.signal, isScripted: false };
    const ended = runLive({ ...live, print: () => undefined }).catch((error: unknown) => error);
    await clock.advance(100_000);
    const reason = new Error('received SIGTERM');
    stop.abort(reason);
    expect(await clock.run(ended)).toBe(reason);
    await scenario.stop();
  });

  it.each([4, 10, 13, 16, 20])(
    'does not scale a shoot down because its kube-apiserver was away for %i seconds',
    async (seconds) => {
      const { scenario } = createDemoFixture({ seed: 0 });
      const { clock, world, log } = scenario;
      const alpha = world.shoot('alpha');
      await clock.advance(5_000);
      alpha.breakEtcd();
      await clock.advance(seconds * 1_000);
      alpha.mendEtcd();
      await clock.advance(20_000);
      expect(log.filter(({ msg }) => msg === 'scaled down')).toEqual([]);
      await scenario.stop();
    },
  );

  it('explains in at most 80 columns how the times were shortened, and where the files are', () => {
    const about: About = {
      ...{ source: 'gardener', shoots: 4, cluster: 'shoot--sim--charlie' },
      seedKubeconfig: '/tmp/d/seed.kubeconfig',
      shootKubeconfigs: ['/tmp/d/alpha.kubeconfig'],
    };
    const lines = aboutLines(about);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const copy of ['export KUBECONFIG=/tmp/d/seed.kubeconfig', '/tmp/d/alpha.kubeconfig']) {
      expect(lines).toContain(`  ${copy}`);
    }
    // The demo deletes its files at its end, so that a path of a log would lead nowhere then.
    expect(lines.join(' ')).toContain('logs are beside them until the demo ends');
    expect(lines.join(' ')).not.toContain('.log');
    const shortened = ['leases every 5s', 'after 22.5s', 'after 30s', '20 times as fast'];
    for (const part of [...shortened, 'The shoot twin is not protected']) expect(lines.join(' ')).toContain(part);
  });
});
