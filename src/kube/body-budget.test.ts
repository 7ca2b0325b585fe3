import { describe, expect, it } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const { signal } = new AbortController();

/** Whether the promise is settled when everything that can run has run. */
const isDone = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  const settle = (): void => {
    done = true;
  };
  promise.then(settle, settle);
  await new Promise(setImmediate);
  return done;
};

describe('rule 11a: the sum of the bodies that come in', () => {
  it('rule 11a: is bounded: what does not fit waits, first come, first served', async () => {
    const budget = createBodyBudget(100);
    const [a, b, c, d] = [budget.open(), budget.open(), budget.open(), budget.open()];
    await a.resize(60, signal);
    await b.resize(40, signal);
    const waiting = [c.resize(70, signal), d.resize(10, signal)];
    expect(await isDone(Promise.race(waiting))).toBe(false);
    // It would fit, but another was there before.
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

  it('rule 11a: a body that grows or shrinks takes what it holds', async () => {
    const budget = createBodyBudget(100);
    const [a, b] = [budget.open(), budget.open()];
    await a.resize(80, signal);
    const growing = b.resize(50, signal);
    expect(await isDone(growing)).toBe(false);
    await a.resize(20, signal);
    await growing;
    expect(budget.taken()).toBe(70);
  });

  it('rule 11a: who gives up leaves the line, and lets the next one in', async () => {
    const budget = createBodyBudget(100);
    const [a, b, c] = [budget.open(), budget.open(), budget.open()];
    await a.resize(60, signal);
    const controller = new AbortController();
    const large = b.resize(90, controller.signal);
    const small = c.resize(30, signal);
    expect(await isDone(small)).toBe(false);
    controller.abort(new Error('time is up'));
    await expect(large).rejects.toThrow('time is up');
    await small;
    await expect(b.resize(90, controller.signal)).rejects.toThrow('time is up');
    b.release();
    expect(budget.taken()).toBe(90);
  });
});
