import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunPool } from './run-pool.ts';

const createRig = (concurrency: number) => {
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const pool = new RunPool<string>({
    concurrency,
    run: async (item) => {
      started.push(item);
      const [key = ''] = item.split('@');
      if (running.has(key)) throw new Error(`${key} runs twice`);
      await new Promise<void>((resolve) => {
        running.set(key, resolve);
      });
      running.delete(key);
    },
  });
  /** Offers each key with an item of this version. */
  const offer = (keys: readonly string[], version = 1): void =>
    pool.offer(new Map(keys.map((key) => [key, `${key}@${version}`])));
  const end = async (key: string): Promise<void> => {
    running.get(key)?.();
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { pool, started, running, offer, end };
};

describe('the run pool', () => {
  it('keeps the place of a waiting key, with the newer item', async () => {
    const { started, offer, end } = createRig(1);
    offer(['a', 'b', 'c']);
    await end('a');
    offer(['a', 'b', 'c'], 2);
    await end('b');
    await end('c');
    await end('a');
    expect(started).toEqual(['a@1', 'b@1', 'c@2', 'a@2']);
  });

  it('drops a waiting key that is no longer offered', async () => {
    const { started, offer, end } = createRig(1);
    offer(['a', 'b', 'c']);
    offer(['c'], 2);
    await end('a');
    expect(started).toEqual(['a@1', 'c@2']);
  });

  it('closes when its runs have ended, and starts no more', async () => {
    const { pool, started, offer, end } = createRig(1);
    offer(['a', 'b']);
    let closed = false;
    const closing = pool.close().then(() => {
      closed = true;
    });
    await end('b');
    expect(closed).toBe(false);
    await end('a');
    await closing;
    expect(started).toEqual(['a@1']);
  });

  it('gives every key its turn, never runs a key twice at the same time, and respects its concurrency', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.oneof(fc.constant('offer'), fc.nat(2)), { maxLength: 30 }),
        async (concurrency, steps) => {
          const { started, running, offer, end } = createRig(concurrency);
          for (const [version, step] of steps.entries()) {
            if (step === 'offer') offer(keys, version);
            else await end([...running.keys()][step] ?? '');
            expect(running.size).toBeLessThanOrEqual(concurrency);
          }
          const counts = keys.map((key) => started.filter((item) => item.startsWith(`${key}@`)).length);
          const most = Math.max(...counts);
          // A key has its second turn only after all waiting keys had their first.
          if (most > 1) expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });
});

describe('an item that is offered first', () => {
  it('runs before all waiting items', async () => {
    const { pool, started, offer, end } = createRig(1);
    offer(['a', 'b', 'c']);
    pool.offerFirst('c', 'c@2');
    await end('a');
    await end('c');
    expect(started).toEqual(['a@1', 'c@2', 'b@1']);
  });

  it('runs after the current run of its key, and only the newest such item does', async () => {
    const { pool, started, offer, end } = createRig(2);
    offer(['a', 'b', 'c']);
    pool.offerFirst('a', 'a@2');
    pool.offerFirst('a', 'a@3');
    await end('a');
    expect(started).toEqual(['a@1', 'b@1', 'a@3']);
    await end('a');
    await end('c');
    expect(started).toEqual(['a@1', 'b@1', 'a@3', 'c@1']);
  });

  it('does not run after close', async () => {
    const { pool, started, offer, end } = createRig(1);
    offer(['a']);
    pool.offerFirst('a', 'a@2');
    const closed = pool.close();
    pool.offerFirst('b', 'b@1');
    await end('a');
    await closed;
    expect(started).toEqual(['a@1']);
  });
});
