import { afterAll, describe, expect, it } from 'vitest';
import { type Show, childOf, endDemos, leftovers, processes, startDemoInTerminal, until } from './support/demo.ts';

const takes = '\u001b[?1049h';
const givesBack = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';

/** Returns the last complete screen, without control sequences. */
const screenOf = (show: Show): string => show.output().split(home).at(-2)?.replaceAll('\u001b[K', '') ?? '';

const press = (show: Show, keys: string): void => void show.process.stdin?.write(keys);

const whenShown = async (show: Show, what: RegExp): Promise<unknown> =>
  until(() => what.test(screenOf(show)), `the screen shows ${String(what)}`);

const whenNothingIsLeft = async (show: Show): Promise<void> => {
  await until(() => leftovers(show).length === 0, 'the temporary directory is gone');
  await until(() => processes(show).length === 0, 'its processes are gone');
};

afterAll(endDemos);

describe('dwd demo in a terminal', () => {
  it('shows the shoots, obeys the keys, and restores the terminal', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /1 alpha +healthy +0\/5 expired/);
    expect(processes(show)).toHaveLength(3);
    expect(screenOf(show)).toMatch(/KUBECONFIG=\S/);
    press(show, '2c');
    await whenShown(show, /^bravo {2}cut off +twin {2}cut off/m);
    press(show, '?');
    await whenShown(show, /Kubeconfigs of the shoots/);
    press(show, '\u001b');
    press(show, 'r');
    await whenShown(show, /^bravo +twin *\r?$/m);
    const rows = screenOf(show).trimEnd().split(/\r+\n/);
    expect(rows).toHaveLength(24);
    expect(rows.filter((row) => row.length > 80)).toEqual([]);
    press(show, 'q');
    expect(await show.exit).toBe(0);
    expect(show.output().indexOf(takes)).toBeGreaterThanOrEqual(0);
    const after = show.output().split(givesBack).at(-1) ?? '';
    expect(after).toBe('');
    await whenNothingIsLeft(show);
  });

  it('ends after Ctrl-C', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /1 alpha/);
    press(show, '\u0003');
    expect(await show.exit).toBe(0);
    await whenNothingIsLeft(show);
  });

  it('ends after SIGTERM, and restores the terminal', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /1 alpha/);
    process.kill(childOf(show), 'SIGTERM');
    expect(await show.exit).toBe(130);
    expect(show.output().split(givesBack)).toHaveLength(2);
    expect(show.output()).toMatch(/interrupted\r+\n$/);
    await whenNothingIsLeft(show);
  });

  it('ends when the terminal closes', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /1 alpha/);
    show.process.kill('SIGKILL');
    await show.exit;
    await whenNothingIsLeft(show);
  });

  it('runs the script with --script', async () => {
    const show = startDemoInTerminal('--script');
    await until(() => show.output().includes('the weeder watches'), 'the script begins');
    expect(show.output()).not.toContain(takes);
    press(show, '\u0003');
    expect(await show.exit).toBe(130);
    await whenNothingIsLeft(show);
  });
});
