import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVirtualClock } from './clock.ts';

const never = new AbortController().signal;

describe('a virtual clock', () => {
  it('lets every runnable task run before the next timer', async () => {
    const clock = createVirtualClock();
    const log: string[] = [];
    const worker = async (name: string): Promise<void> => {
      await clock.sleep(10, never);
      log.push(`${name} woke`);
      for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} done at ${clock.monotonic()}`);
    };
    const all = Promise.all([worker('a'), worker('b')]);
    clock.timer(11, () => log.push('timer'));
    await clock.run(all);
    await clock.advance(5);
    expect(log).toEqual(['a woke', 'a done at 10', 'b woke', 'b done at 10', 'timer']);
  });

  it('ends a sleep of 0 or less at once, rejects an aborted one, and leaves no timer behind', async () => {
    const clock = createVirtualClock();
    await clock.sleep(0, never);
    await clock.sleep(-5, never);
    const reason = new Error('enough');
    await expect(clock.sleep(5, AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(clock.sleep(0, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const sleep = clock.sleep(5, controller.signal);
    expect(clock.pending).toBe(1);
    controller.abort(reason);
    await expect(sleep).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it('never fires an infinite timer, and refuses a delay that is not a number', async () => {
    const clock = createVirtualClock();
    clock.timer(Infinity, () => expect.unreachable());
    await clock.advance(1e9);
    expect(clock.pending).toBe(1);
    expect(() => clock.timer(Number.NaN, () => undefined)).toThrow(RangeError);
  });

  it('rejects when the awaited event can never happen', async () => {
    const clock = createVirtualClock();
    await expect(clock.run(new Promise(() => undefined))).rejects.toThrow('no timer is left');
  });

  it('stops where a callback threw, and goes on from there', async () => {
    const clock = createVirtualClock();
    const fired: number[] = [];
    clock.timer(5, () => {
      throw new Error('broken callback');
    });
    clock.timer(8, () => fired.push(clock.monotonic()));
    await expect(clock.advance(10)).rejects.toThrow('broken callback');
    expect(clock.monotonic()).toBe(5);
    await clock.advance(5);
    expect(fired).toEqual([8]);
  });

  it('accepts one move at a time', async () => {
    const clock = createVirtualClock();
    const first = clock.advance(5);
    await expect(clock.advance(5)).rejects.toThrow('being moved already');
    await first;
    await clock.advance(5);
    expect(clock.monotonic()).toBe(10);
  });

  it.each([1, 2])('lets promises settle before each of many timers: %i turns', async (turns) => {
    const clock = createVirtualClock({ turns });
    const log: string[] = [];
    const expected: string[] = [];
    for (let ms = 1; ms <= 200; ms += 1) {
      expected.push(`timer ${String(ms)}`, `settled ${String(ms)}`);
      clock.timer(ms, () => {
        log.push(`timer ${String(clock.monotonic())}`);
        void (async () => {
          for (let hop = 0; hop < 1 + (ms % 90); hop += 1) await Promise.resolve();
          log.push(`settled ${String(clock.monotonic())}`);
        })();
      });
    }
    await clock.advance(70);
    expect(log).toEqual(expected.slice(0, 140));
    await clock.runUntil(() => log.length === 300);
    await clock.settle();
    await clock.advance(1_000);
    expect(log).toEqual(expected);
  });

  it('fires the timers that were not cancelled, sorted by deadline and age, in any order of events', async () => {
    const plan = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.option(fc.nat(30), { nil: undefined })), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(plan, async (timers) => {
        const clock = createVirtualClock({ turns: 1 });
        const fired: number[] = [];
        const cancels = timers.map(([ms], index) => clock.timer(ms, () => fired.push(index)));
        const cancelled = new Set<number>();
        for (const [, victim] of timers) {
          if (victim === undefined || victim >= timers.length) continue;
          cancels[victim]?.();
          cancelled.add(victim);
        }
        await clock.advance(50);
        const expected = timers
          .map(([ms], index) => ({ ms, index }))
          .filter(({ index }) => !cancelled.has(index))
          .sort((a, b) => a.ms - b.ms || a.index - b.index);
        expect(fired).toEqual(expected.map(({ index }) => index));
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
