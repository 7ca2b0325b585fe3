import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { abortable } from './abortable.ts';

/** Creates a promise, functions that settle it, and a mock that is called at its end. */
const begin = (signal: AbortSignal) => {
  const onEnd = vi.fn();
  let settle = (): void => undefined;
  let fail = settle;
  const promise = abortable<string>(signal, (resolve, reject) => {
    settle = () => resolve('value');
    fail = () => reject(new Error('broken'));
    return onEnd;
  });
  return { promise, onEnd, settle, fail };
};

it('settles by the first call, cleans up once, and leaves no listener', async () => {
  const { signal } = new AbortController();
  const [kept, broken] = [begin(signal), begin(signal)];
  kept.settle();
  kept.fail();
  broken.fail();
  broken.settle();
  await expect(kept.promise).resolves.toBe('value');
  await expect(broken.promise).rejects.toThrow('broken');
  expect([kept.onEnd.mock.calls, broken.onEnd.mock.calls]).toEqual([[[true]], [[false]]]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it.each([true, false])('rejects with the reason of the signal, aborted before: %s', async (isAbortedBefore) => {
  const abort = new AbortController();
  if (isAbortedBefore) abort.abort('stop');
  const { promise, onEnd, settle } = begin(abort.signal);
  abort.abort('stop');
  settle();
  await expect(promise).rejects.toBe('stop');
  expect(onEnd.mock.calls).toEqual([[false]]);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});
