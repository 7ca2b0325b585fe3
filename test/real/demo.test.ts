import { existsSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { waitFor } from '../envtest/waiting.ts';
import { type Show, showDemo } from './support/demo.ts';
import { interrupt } from './support/terminal.ts';

/** Waits until the prober watches, so that the script begins. Opens the logs of the watchdogs, so that they can be read after the demo has removed them. */
const whenWatched = async (show: Show) => {
  await show.untilShown('its kubelets are cut off');
  const [, directory = ''] = /^ {2}(\S+)\/alpha\.kubeconfig$/m.exec(show.output()) ?? [];
  const logs = ['prober', 'weeder'].map((name) => openSync(join(directory, `${name}.log`), 'r'));
  return () => logs.map((log) => readFileSync(log, 'utf8').includes('"msg":"stopping"'));
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

it('runs its script to the end, prints no line of more than 80 columns and no colour into a pipe, and leaves nothing behind', async () => {
  const show = showDemo();
  const haveStopped = await whenWatched(show);
  // What it shows depends on real time; simulator/demo proves it on virtual time.
  expect(await show.ended).toBe(0);
  const text = show.output();
  // The directory of this test makes paths longer than usual.
  const lines = text.replaceAll(show.directory, '/tmp').split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(text).not.toContain('\u001b');
  await show.untilNothingIsLeft();
  expect(haveStopped()).toEqual([true, true]);
});

it('tells what happens in lines, serves the page with its buttons, and ends at Ctrl-C, in a terminal', async () => {
  const show = showDemo([], 'terminal');
  await show.untilShown(/the page: http:\/\/localhost:\d+\//);
  await show.untilShown(/Kubeconfigs of the shoots/);
  expect(show.processes()).toHaveLength(2);
  const url = /http:\/\/localhost:\d+/.exec(show.output())?.[0] ?? '';
  const query = new URLSearchParams({ namespace: 'shoot--sim--bravo', kind: 'cut kubelets' });
  const cut = await fetch(`${url}/demo/faults?${String(query)}`, { method: 'POST', headers: { Origin: url } });
  expect(cut.status).toBe(200);
  await show.untilShown(/s {2}bravo +its kubelets are cut off\r?\n/);
  // Lines stay: nothing takes the screen.
  expect(show.output()).not.toContain('\u001b[?');
  show.type(interrupt);
  expect(await show.ended).toBe(130);
  await show.untilNothingIsLeft();
});

it.each([
  ['SIGTERM', 130],
  ['SIGKILL', 'SIGKILL'],
] as const)('%s ends its world and its watchdogs', async (signal, end) => {
  const show = showDemo();
  const haveStopped = await whenWatched(show);
  const kubeconfigs = Array.from(
    show.output().matchAll(/^ {2}(?:export KUBECONFIG=)?(\S+\.kubeconfig)$/gm),
    ([, path = '']) => path,
  );
  expect(kubeconfigs.map((path) => [basename(path), existsSync(path)])).toEqual(
    ['seed', 'alpha', 'bravo', 'charlie', 'twin'].map((name) => [`${name}.kubeconfig`, true]),
  );
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(readFileSync(kubeconfigs[0] ?? '', 'utf8'))?.[1]);
  expect([await isListening(port), show.processes().length]).toEqual([true, 2]);
  show.signal(signal);
  expect(await show.ended).toBe(end);
  await waitFor({ what: 'the world is gone' }, async () => !(await isListening(port)));
  await show.untilNothingIsLeft();
  expect(haveStopped()).toEqual([true, true]);
});

it('ends with its terminal', async () => {
  const show = showDemo([], 'terminal');
  await show.untilShown('the page: ');
  show.signal('SIGKILL');
  expect(await show.ended).toBe('SIGKILL');
  await show.untilNothingIsLeft();
});
