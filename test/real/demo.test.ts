import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
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

/** Waits until the prober watches, so that the script begins. Returns the port of the simulated seed. */
const whenWatched = async (show: Show): Promise<number> => {
  await until(() => show.output().includes('its kubelets are cut off'), 'the script begins');
  const kubeconfig = readFileSync(/KUBECONFIG=(.*)/.exec(show.output())![1]!, 'utf8');
  return Number(/127\.0\.0\.1:(\d+)/.exec(kubeconfig)![1]);
};

/** Returns the printed paths of the kubeconfigs. */
const kubeconfigs = (show: Show): readonly string[] =>
  [...show.output().matchAll(/^ {2}(?:export KUBECONFIG=)?(\S+\.kubeconfig)$/gm)].map(([, path]) => path!);

afterAll(endDemos);

it('runs its script to the end, prints no line of more than 80 columns and no colour into a pipe, and leaves nothing behind', async () => {
  const show = start();
  await whenWatched(show);
  const logs = openLogs(show);
  // What it shows depends on real time; simulator/demo proves it on virtual time.
  expect(await show.exit).toBe(0);
  const text = show.output();
  // The directory of this test makes paths longer than usual, and the keys are those of a terminal.
  const lines = text.replaceAll(show.directory, '/tmp').split('\n');
  expect(lines.filter((line) => line.length > 80 && !line.includes('keys: '))).toEqual([]);
  expect(text).not.toContain('\u001b');
  expect([processes(show), leftovers(show)]).toEqual([[], []]);
  expect(logs.map((log) => log.read().includes('"msg":"stopping"'))).toEqual([true, true]);
});

describe('dwd demo, interrupted', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('by %s ends its world and its watchdogs', async (signal) => {
    const show = start();
    const port = await whenWatched(show);
    expect(await isListening(port)).toBe(true);
    expect(kubeconfigs(show).map((path) => [basename(path), existsSync(path)])).toEqual(
      ['seed', 'alpha', 'bravo', 'charlie', 'twin'].map((name) => [`${name}.kubeconfig`, true]),
    );
    expect(processes(show)).toHaveLength(2);
    const logs = openLogs(show);
    show.process.kill(signal);
    expect(await show.exit).toBe(signal === 'SIGKILL' ? null : 130);
    await until(async () => !(await isListening(port)), 'the world is gone');
    await until(() => leftovers(show).length === 0, 'the temporary directory is gone');
    await until(() => processes(show).length === 0, 'its processes are gone');
    expect(logs.map((log) => log.read().includes('"msg":"stopping"'))).toEqual([true, true]);
  });
});
