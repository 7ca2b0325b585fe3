import { describe, expect, it } from 'vitest';
import { type BodyShare, BodyBudget } from './body-budget.ts';

const { signal } = new AbortController();

const resize = async (share: BodyShare, bytes: number): Promise<void> => share.resize(bytes, signal);

/** Returns true if the promise is settled once everything runnable has run. */
const isDone = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  const settle = (): void => {
    done = true;
  };
  promise.then(settle, settle);
  await new Promise(setImmediate);
  return done;
};

describe('rule 11a: the memory of all incoming bodies', () => {
  it('rule 11a: is bounded: bodies that do not fit wait, first come, first served', async () => {
    const budget = new BodyBudget(100);
    const [a, b, c, d] = [budget.open(), budget.open(), budget.open(), budget.open()];
    await resize(a, 60);
    await resize(b, 40);
    const waiting = [resize(c, 70), resize(d, 10)];
    expect(await isDone(Promise.race(waiting))).toBe(false);
    // The second one would fit, but the first one waits before it.
    b.release();
    expect(await isDone(Promise.race(waiting))).toBe(false);
    a.release();
    await Promise.all(waiting);
    expect(budget.taken()).toBe(80);
    c.release();
    d.release();
    d.release();
    expect(budget.taken()).toBe(0);
  });

  it('rule 11a: grows and shrinks with each body', async () => {
    const budget = new BodyBudget(100);
    const [a, b] = [budget.open(), budget.open()];
    await resize(a, 80);
    const growing = resize(b, 50);
    expect(await isDone(growing)).toBe(false);
    await resize(a, 20);
    await growing;
    expect(budget.taken()).toBe(70);
  });

  it('rule 11a: an aborted body leaves the line and lets the next one in', async () => {
    const budget = new BodyBudget(100);
    const [a, b, c] = [budget.open(), budget.open(), budget.open()];
    await resize(a, 60);
    const controller = new AbortController();
    const large = b.resize(90, controller.signal);
    const small = resize(c, 30);
    expect(await isDone(small)).toBe(false);
    controller.abort(new Error('time is up'));
    await expect(large).rejects.toThrow('time is up');
    await small;
    await expect(b.resize(90, controller.signal)).rejects.toThrow('time is up');
    b.release();
    expect(budget.taken()).toBe(90);
  });
});
