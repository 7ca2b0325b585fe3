import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { WorkQueue, type WorkQueueOptions } from './queue.ts';

interface Run {
  readonly key: string;
  readonly at: number;
  readonly succeed: () => void;
  readonly fail: (error: unknown) => void;
}

const createBench = (options: Partial<WorkQueueOptions> = {}) => {
  const clock = createVirtualClock();
  /** All runs so far. A run lasts until the test ends it. */
  const runs: Run[] = [];
  const reconcile = (key: string): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({ key, at: clock.monotonic(), succeed: resolve, fail: reject });
    });
  const queue = new WorkQueue({ clock, concurrency: 4, reconcile, onError: () => undefined, ...options });
  return { clock, queue, runs, keys: () => runs.map((run) => run.key) };
};

describe('rule 22: one key at a time', () => {
  it('rule 22: a key added while it runs, however often, gets exactly one more run', async () => {
    const { clock, queue, runs, keys } = createBench();
    queue.add('a');
    await clock.settle();
    queue.add('a');
    queue.add('a');
    await clock.settle();
    expect(keys()).toEqual(['a']);
    runs[0]?.succeed();
    await clock.settle();
    expect(keys()).toEqual(['a', 'a']);
    runs[1]?.succeed();
    await clock.advance(3_600_000);
    expect(keys()).toEqual(['a', 'a']);
  });

  it('rule 22: any order of adds and ends keeps one run per key, and the last add is always followed by a run', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('add', 'end', 'fail', 'later'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const clock = createVirtualClock();
          const running = new Map<string, { end: () => void; fail: () => void }>();
          const lastStart = new Map<string, number>();
          const lastAdd = new Map<string, number>();
          let order = 0;
          const queue = new WorkQueue({
            clock,
            concurrency,
            onError: () => undefined,
            reconcile: (key) => {
              expect(running.has(key)).toBe(false);
              expect(running.size).toBeLessThan(concurrency);
              lastStart.set(key, ++order);
              return new Promise((resolve, reject) => {
                const leave = (settle: () => void) => () => {
                  running.delete(key);
                  settle();
                };
                running.set(key, { end: leave(resolve), fail: leave(() => reject(new Error('no'))) });
              });
            },
          });
          for (const { key, act } of steps) {
            if (act === 'add') queue.add(key);
            if (act === 'later') queue.addAfter(key, 10);
            if (act === 'add' || act === 'later') lastAdd.set(key, ++order);
            if (act === 'end') running.get(key)?.end();
            if (act === 'fail') running.get(key)?.fail();
            await clock.settle();
          }
          for (let round = 0; round < 100 && (round < 3 || running.size > 0); round += 1) {
            for (const run of [...running.values()]) run.end();
            await clock.advance(1_000);
          }
          for (const [key, added] of lastAdd) expect(lastStart.get(key)).toBeGreaterThan(added);
        },
      ),
      { numRuns: 200 },
    );
  });
});

it('limited keys leave workers for the other keys, in any order of arrival', async () => {
  const slow = new Set(['s1', 's2', 's3']);
  const { clock, queue, runs, keys } = createBench({
    concurrency: 3,
    limited: { has: (key) => slow.has(key), concurrency: 1 },
  });
  for (const key of ['s1', 's2', 's3', 'a', 'b', 'c']) queue.add(key);
  await clock.settle();
  expect(keys()).toEqual(['s1', 'a', 'b']);
  runs[1]?.succeed();
  await clock.settle();
  expect(keys()).toEqual(['s1', 'a', 'b', 'c']);
  // The limited keys still wait, although workers are free.
  runs[2]?.succeed();
  runs[3]?.fail(new Error('no'));
  await clock.settle();
  expect(keys()).toHaveLength(4);
  slow.delete('s1');
  runs[0]?.succeed();
  await clock.settle();
  expect(keys().slice(4)).toEqual(['s2']);
  // A key that is no longer limited starts beside the limited one.
  slow.delete('s3');
  queue.add('d');
  await clock.settle();
  expect(keys().slice(5)).toEqual(['s3', 'd']);
});

describe('rule 23: failures and delays', () => {
  it('rule 23: a failed key is retried after 5 ms * 2^n, at most 1000 s, forever', async () => {
    const { clock, queue, runs } = createBench();
    queue.add('a');
    await clock.settle();
    for (let failures = 1; failures <= 1_200; failures += 1) {
      const before = clock.monotonic();
      runs.at(-1)?.fail(new Error('no'));
      await clock.advance(1_000_000);
      const expected = failures > 18 ? 1_000_000 : 5 * 2 ** (failures - 1);
      expect(runs).toHaveLength(failures + 1);
      expect(runs.at(-1)?.at).toBe(before + expected);
    }
  });

  it('rule 23: success forgets the failures', async () => {
    const { clock, queue, runs } = createBench();
    queue.add('a');
    await clock.settle();
    for (const settle of ['fail', 'fail', 'succeed', 'add', 'fail']) {
      if (settle === 'add') queue.add('a');
      else if (settle === 'fail') runs.at(-1)?.fail(new Error('no'));
      else runs.at(-1)?.succeed();
      await clock.advance(100);
    }
    const [, , third, fourth, fifth] = runs;
    expect(third?.at).toBeDefined();
    expect(fifth?.at).toBe(Number(fourth?.at) + 100 + 5);
  });

  it('rule 23: of two delays the earlier wins, in either order', async () => {
    for (const [first, second] of [
      [500, 200],
      [200, 500],
    ] as const) {
      const { clock, queue, runs } = createBench();
      queue.addAfter('a', first);
      queue.addAfter('a', second);
      await clock.advance(10_000);
      expect(runs.map((run) => run.at)).toEqual([200]);
      expect(clock.pending).toBe(0);
    }
  });

  it('rule 23: a synchronous throw is a failure like any other', async () => {
    const errors: unknown[] = [];
    const { clock, queue } = createBench({
      reconcile: () => {
        throw new Error('at once');
      },
      onError: (key, error) => errors.push([key, String(error)]),
    });
    queue.add('a');
    await clock.advance(16);
    expect(errors).toEqual([1, 2, 3].map(() => ['a', 'Error: at once']));
  });
});

describe('rule 24: shutdown', () => {
  it('rule 24: drain waits for the running keys and starts nothing new', async () => {
    const { clock, queue, runs, keys } = createBench({ concurrency: 1 });
    queue.add('a');
    await clock.settle();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    let drained = 0;
    void queue.drain().then(() => (drained += 1));
    void queue.drain().then(() => (drained += 1));
    queue.add('d');
    queue.addAfter('e', 1);
    await clock.advance(10_000);
    expect(drained).toBe(0);
    runs[0]?.fail(new Error('no'));
    await clock.advance(10_000_000);
    expect(drained).toBe(2);
    expect(keys()).toEqual(['a']);
    expect(clock.pending).toBe(0);
  });
});
