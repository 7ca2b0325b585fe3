import { expect, it, vi } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { whenAborted } from './lifecycle.ts';
import { Reloadable } from './reloadable.ts';

/** Creates a component whose settings are a number; the caches of the first one are filled with `firstSync`. Its memory lists the settings that it has worked with. */
const setUp = (firstSync: Promise<void> = Promise.resolve()) => {
  const clock = createVirtualClock();
  const reported: string[] = [];
  const parts = new Reloadable<number, readonly number[]>({
    name: 'test',
    settings: 0,
    create: (settings) => ({
      settings,
      sync: () => (settings < 0 ? Promise.reject(new Error('no list')) : settings > 0 ? Promise.resolve() : firstSync),
      work: async (memory = [], signal) => {
        reported.push(`work ${String(settings)}`);
        await whenAborted(signal);
        reported.push(`end ${String(settings)}`);
        return [...memory, settings];
      },
      checks: () => [],
      close: () => {
        reported.push(`close ${String(settings)}`);
        return Promise.resolve();
      },
    }),
    stop: () => undefined,
    logger: createRecordingLogger(),
  });
  const stop = new AbortController();
  const listening = vi.spyOn(stop.signal, 'addEventListener');
  return { clock, told: reported, parts, stop, listening };
};

it('ends the former component, then closes its watches, before the next one works', async () => {
  const { clock, told, parts, stop } = setUp();
  const running = parts.controller.run(stop.signal, () => undefined);
  void parts.apply(1);
  await clock.settle();
  expect(told).toEqual(['work 0', 'end 0', 'close 0', 'work 1']);
  stop.abort();
  await clock.run(running);
  expect(told.slice(4)).toEqual(['end 1']);
});

it('adds at most one listener to the signal of the program, however often it is reloaded', async () => {
  const { clock, told, parts, stop, listening } = setUp();
  const running = parts.controller.run(stop.signal, () => undefined);
  for (let change = 1; change <= 50; change += 1) {
    void parts.apply(change);
    await clock.settle();
  }
  expect(told.at(-1)).toBe('work 50');
  expect(listening.mock.calls.length).toBeLessThanOrEqual(1);
  stop.abort();
  await clock.run(running);
});

it('stays with the former settings if it cannot switch to others, and tells so', async () => {
  const { parts, stop, clock, told } = setUp();
  const running = parts.controller.run(stop.signal, () => undefined);
  expect(await parts.apply(-1)).toBe(false);
  expect(told).toEqual(['work 0']);
  stop.abort();
  await clock.run(running);
});

it('ignores changes once it has ended', async () => {
  const { clock, told, parts, stop } = setUp();
  const running = parts.caches.run(stop.signal, () => undefined);
  await clock.settle();
  stop.abort();
  await clock.run(running);
  void parts.apply(1);
  await clock.settle();
  expect(told).toEqual(['close 0']);
});

it('applies the later of two changes that arrive at once, and closes the watches of the earlier', async () => {
  const { clock, told, parts, stop } = setUp();
  const running = parts.controller.run(stop.signal, () => undefined);
  const applied = [parts.apply(1), parts.apply(2)];
  await clock.settle();
  expect(await Promise.all(applied)).toEqual([false, true]);
  expect(told.filter((line) => line.startsWith('close')).sort()).toEqual(['close 0', 'close 1']);
  expect(told).not.toContain('work 1');
  expect(told.at(-1)).toBe('work 2');
  stop.abort();
  await clock.run(running);
});

it('applies a change that arrives while the first caches are still being filled', async () => {
  const first = Promise.withResolvers<undefined>();
  const { clock, told, parts, stop } = setUp(first.promise);
  const ready = vi.fn();
  const running = parts.caches.run(stop.signal, ready);
  await clock.settle();
  expect(ready).not.toHaveBeenCalled();
  void parts.apply(1);
  await clock.settle();
  expect(told).toEqual(['close 0']);
  first.reject(new Error('these watches are no longer needed'));
  await clock.settle();
  expect(ready).toHaveBeenCalledOnce();
  stop.abort();
  await clock.run(running);
});
