import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Show,
  endDemos,
  isListening,
  leftovers,
  openLogs,
  processes,
  startDemo as start,
  until,
} from './support/demo.ts';
import { startProgram } from './support/program.ts';

/** Waits until the watchdogs watch. Returns the port of the simulated seed. */
const whenWatched = async (show: Show): Promise<number> => {
  await until(() => show.output().includes('the prober has probed'), 'the prober watches');
  await until(() => show.output().includes('the weeder watches'), 'the weeder watches');
  const kubeconfig = readFileSync(/KUBECONFIG=(.*)/.exec(show.output())![1]!, 'utf8');
  return Number(/127\.0\.0\.1:(\d+)/.exec(kubeconfig)![1]);
};

/** Returns the printed paths of the kubeconfigs. */
const kubeconfigs = (show: Show): readonly string[] =>
  [...show.output().matchAll(/^ {2}(?:export KUBECONFIG=)?(\S+\.kubeconfig)$/gm)].map(([, path]) => path!);

afterAll(endDemos);

describe('dwd demo', () => {
  let [whole, without]: (Show | undefined)[] = [];
  let codes: readonly (number | null)[] = [];
  let logs: ReturnType<typeof openLogs> = [];

  beforeAll(async () => {
    whole = start();
    without = start('--without-prober', '--without-weeder');
    await whenWatched(whole);
    logs = openLogs(whole);
    codes = await Promise.all([whole.exit, without.exit]);
  });

  it('shows the effects of both watchdogs, and exits with 0', () => {
    const text = whole!.output();
    expect(text).not.toContain('NOT SEEN');
    expect(text.match(/\[seen\]/g)).toHaveLength(10);
    expect(text).toContain('kube-controller-manager     2 -> 0');
    expect(text).toContain('kube-controller-manager     0 -> 2');
    expect(text).toMatch(/bravo {4}the weeder deleted kube-apiserver-/);
    expect(text).toMatch(/twin {5}no weeder deletes its pods/);
    expect(codes[0]).toBe(0);
  });

  it('prints the conditions of care during the outage', () => {
    const [, seen = '', after = ''] = whole!.output().split(/the findings of care:|the network is repaired/);
    expect(seen).toMatch(/ alpha {4}ControlPlaneHealthy +False +ControllersScaledDown\n/);
    expect(seen).toMatch(/ bravo {4}ControlPlaneHealthy +False +EtcdUnhealthy\n/);
    expect(seen).toMatch(/ charlie {2}all 5 conditions are True\n/);
    expect(after).toContain('the end');
    // Nothing is restored: at any time, care finds nodes silent or given up.
    expect(without!.output()).toMatch(/ alpha {4}EveryNodeReady +False +(?:NodeUnhealthy|TooManyExpiredNodeLeases)\n/);
  });

  it('prints a command that shows the conditions at any time', async () => {
    const show = start();
    await whenWatched(show);
    const [, seed = ''] = /KUBECONFIG=(.*)/.exec(show.output()) ?? [];
    const [, args = ''] = /^ {2}bin\/dwd (care .*)$/m.exec(show.output()) ?? [];
    // The script does not touch this shoot.
    const care = startProgram([...args.split(' '), '--shoot=shoot--sim--charlie'], { KUBECONFIG: seed });
    expect(await care.ended).toBe(0);
    expect(care.output()).toMatch(/^shoot--sim--charlie \(garden-sim\/charlie\): healthy\n/);
    show.process.kill('SIGTERM');
    await show.exit;
  });

  it('shows without watchdogs that nodes turn Unknown and pods stay in their back-off, and exits with 1', () => {
    const text = without!.output();
    expect(text).toMatch(/KCM has given up \d nodes? \(Unknown\): 0 of 5 Ready/);
    expect(text).toContain('[NOT SEEN] no node turned Unknown');
    expect(text).toContain('[NOT SEEN] etcd back: waiting pods deleted');
    expect(text).not.toContain('the weeder deleted');
    expect(codes[1]).toBe(1);
  });

  it('prints no line of more than 80 columns, and no colours into a pipe', () => {
    for (const show of [whole!, without!]) {
      // The directory of this test makes paths longer than usual.
      const lines = show.output().replaceAll(show.directory, '/tmp').split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(show.output()).not.toContain('\u001b');
    }
  });

  it('leaves nothing behind, not even its logs', () => {
    expect([...processes(whole!), ...processes(without!)]).toEqual([]);
    expect([...leftovers(whole!), ...leftovers(without!)]).toEqual([]);
    const [prober, weeder] = logs;
    expect(prober?.read()).toContain('"msg":"scaled down"');
    expect(weeder?.read()).toContain('"msg":"deleted a crash-looping pod"');
  });
});

describe('dwd demo, interrupted', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('by %s ends its world and its watchdogs', async (signal) => {
    const show = start();
    const port = await whenWatched(show);
    expect(await isListening(port)).toBe(true);
    expect(kubeconfigs(show).map((path) => [basename(path), existsSync(path)])).toEqual(
      ['seed', 'alpha', 'bravo', 'charlie', 'twin'].map((name) => [`${name}.kubeconfig`, true]),
    );
    expect(processes(show)).toHaveLength(3);
    const logs = openLogs(show);
    show.process.kill(signal);
    expect(await show.exit).toBe(signal === 'SIGKILL' ? null : 130);
    await until(async () => !(await isListening(port)), 'the world is gone');
    await until(() => leftovers(show).length === 0, 'the temporary directory is gone');
    await until(() => processes(show).length === 0, 'its processes are gone');
    expect(logs.map((log) => log.read().includes('"msg":"stopping"'))).toEqual([true, true]);
  });
});
