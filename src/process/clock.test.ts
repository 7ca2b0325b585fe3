import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';

/** Node's timers as vitest fakes them: this file tests the adapter between them and the port. */
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => vi.useRealTimers());

const never = (): AbortSignal => new AbortController().signal;

it('returns the wall clock and the monotonic time', () => {
  vi.setSystemTime(1_234_567);
  const clock = systemClock();
  const before = clock.monotonic();
  vi.advanceTimersByTime(1_500);
  expect(clock.now()).toBe(1_234_567 + 1_500);
  expect(clock.monotonic() - before).toBe(1_500);
});

it.each([1, 1_000, 2 ** 31 - 1, 2 ** 31, 2 ** 33])('fires a timer once, after %d ms', (ms) => {
  let fired = 0;
  systemClock().timer(ms, () => (fired += 1));
  vi.advanceTimersByTime(ms - 1);
  expect(fired).toBe(0);
  vi.advanceTimersByTime(10);
  expect(fired).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([0, -1])('fires a timer of %d ms at the end of the current turn of the event loop', async (ms) => {
  let fired = 0;
  systemClock().timer(ms, () => (fired += 1));
  const cancel = systemClock().timer(ms, () => (fired += 1));
  cancel();
  expect(fired).toBe(0);
  await new Promise(setImmediate);
  expect(fired).toBe(1);
});

it('cancels a timer, even during a delay longer than setTimeout accepts, and ignores a second cancel', () => {
  let fired = 0;
  const cancel = systemClock().timer(2 ** 32, () => (fired += 1));
  vi.advanceTimersByTime(2 ** 31 + 5);
  cancel();
  cancel();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2 ** 33);
  expect(fired).toBe(0);
});

it('sleeps for the given time, then removes its listener from the signal', async () => {
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, 'removeEventListener');
  const slept = systemClock().sleep(50, signal);
  vi.advanceTimersByTime(50);
  await slept;
  expect(remove).toHaveBeenCalledTimes(1);
});

it('rejects at once on abort with the same reason object, and leaves no timer', async () => {
  const controller = new AbortController();
  const reason = { why: 'any value' };
  const slept = systemClock().sleep(1_000_000, controller.signal);
  controller.abort(reason);
  await expect(slept).rejects.toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
});

it('returns at once for a sleep of 0 ms or less, unless aborted', async () => {
  const clock = systemClock();
  await clock.sleep(0, never());
  await clock.sleep(-5, never());
  await expect(clock.sleep(0, AbortSignal.abort('gone'))).rejects.toBe('gone');
  expect(vi.getTimerCount()).toBe(0);
});
