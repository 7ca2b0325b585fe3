import { afterAll, describe, expect, it } from 'vitest';
import { type Show, childOf, endDemos, leftovers, processes, startDemoInTerminal, until } from './support/demo.ts';

const press = (show: Show, keys: string): void => void show.process.stdin?.write(keys);

const whenShown = async (show: Show, what: RegExp): Promise<unknown> =>
  until(() => what.test(show.output()), `the terminal shows ${String(what)}`);

const whenNothingIsLeft = async (show: Show): Promise<void> => {
  await until(() => leftovers(show).length === 0, 'the temporary directory is gone');
  await until(() => processes(show).length === 0, 'its processes are gone');
};

afterAll(endDemos);

describe('dwd demo in a terminal', () => {
  it('tells what happens in lines, obeys the keys, and names the address of the page', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /keys: 1-4 pick \(alpha\)/);
    await whenShown(show, /the page: http:\/\/localhost:\d+\//);
    expect(processes(show)).toHaveLength(2);
    press(show, '2c');
    await whenShown(show, /s {2}bravo +its kubelets are cut off\r?\n/);
    await whenShown(show, /s {2}twin +its kubelets are cut off\r?\n/);
    press(show, '?');
    await whenShown(show, /Kubeconfigs of the shoots/);
    press(show, 'r');
    await whenShown(show, /s {2}bravo +its kubelets are connected\r?\n/);
    press(show, 'q');
    expect(await show.exit).toBe(0);
    // Lines stay: nothing takes the screen.
    expect(show.output()).not.toContain('\u001b[?');
    await whenNothingIsLeft(show);
  });

  it('ends after Ctrl-C', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /keys: /);
    press(show, '\u0003');
    expect(await show.exit).toBe(0);
    await whenNothingIsLeft(show);
  });

  it('ends after SIGTERM', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /keys: /);
    process.kill(childOf(show), 'SIGTERM');
    expect(await show.exit).toBe(130);
    expect(show.output()).toMatch(/interrupted\r+\n$/);
    await whenNothingIsLeft(show);
  });

  it('ends when the terminal closes', async () => {
    const show = startDemoInTerminal();
    await whenShown(show, /keys: /);
    show.process.kill('SIGKILL');
    await show.exit;
    await whenNothingIsLeft(show);
  });

  it('runs the script with --script', async () => {
    const show = startDemoInTerminal('--script');
    await whenShown(show, /s {2}alpha +its kubelets are cut off\r?\n/);
    press(show, '\u0003');
    expect(await show.exit).toBe(130);
    await whenNothingIsLeft(show);
  });
});
