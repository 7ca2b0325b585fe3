import { expect, it } from 'vitest';
import type { Kube, KubeResponse } from '../api/kube.ts';
import { WriteTracker } from './write-tracker.ts';

const { signal } = new AbortController();
const response: KubeResponse = {
  status: 200,
  headers: {},
  body: { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }) },
};

/** A server that answers each request when its entry of `answers` is called. */
const heldKube = (): { kube: Kube; answers: ((error?: Error) => void)[] } => {
  const answers: ((error?: Error) => void)[] = [];
  const request = (): Promise<KubeResponse> =>
    new Promise((resolve, reject) =>
      answers.push((error) => (error === undefined ? resolve(response) : reject(error))),
    );
  return { kube: { request }, answers };
};

const hasEnded = async (ended: Promise<void>): Promise<boolean> => {
  let result = false;
  void ended.then(() => (result = true));
  await new Promise((resolve) => setImmediate(resolve));
  return result;
};

it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('waits for a %s, answered or failed', async (method) => {
  const { kube, answers } = heldKube();
  const writes = new WriteTracker();
  const tracked = writes.track(kube);
  const [first, second] = [1, 2].map(() => tracked.request({ method, path: '/', signal }));
  const ended = writes.ended();
  answers[0]?.();
  await first;
  expect(await hasEnded(ended)).toBe(false);
  answers[1]?.(new Error('reset'));
  await expect(second).rejects.toThrow('reset');
  expect(await hasEnded(ended)).toBe(true);
});

it('aborts writes and no reads', async () => {
  const { kube, answers } = heldKube();
  const asked: AbortSignal[] = [];
  const writes = new WriteTracker();
  const tracked = writes.track({
    request: (request) => {
      asked.push(request.signal);
      return kube.request(request);
    },
  });
  const own = new AbortController();
  void tracked.request({ method: 'GET', path: '/', signal });
  void tracked.request({ method: 'PATCH', path: '/', signal });
  void tracked.request({ method: 'PATCH', path: '/', signal: own.signal });
  own.abort('no longer wanted');
  expect(asked.map(({ aborted }) => aborted)).toEqual([false, false, true]);
  expect(asked[2]?.reason).toBe('no longer wanted');
  writes.abort('leadership is lost');
  expect(asked.map(({ aborted }) => aborted)).toEqual([false, true, true]);
  expect(asked[1]?.reason).toMatchObject({ code: 'ConnectionError', message: 'given up: leadership is lost' });
  for (const answer of answers) answer();
});

it('waits for a write that began while it waited', async () => {
  const { kube, answers } = heldKube();
  const writes = new WriteTracker();
  const tracked = writes.track(kube);
  void tracked.request({ method: 'PATCH', path: '/', signal });
  const ended = writes.ended();
  void tracked.request({ method: 'PATCH', path: '/', signal });
  answers[0]?.();
  expect(await hasEnded(ended)).toBe(false);
  answers[1]?.();
  expect(await hasEnded(ended)).toBe(true);
});
