import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { CheckResult, HealthCheck } from './check.ts';
import { runChecks } from './run-checks.ts';
import { contextOf } from './testing/stub-client.ts';

const type = 'ControlPlaneHealthy';
const fine: CheckResult = { status: 'True' };
const checkOf = (check: HealthCheck['check'], options: Partial<HealthCheck> = {}): HealthCheck => ({
  conditionType: type,
  check,
  ...options,
});

const run = (checks: readonly HealthCheck[], signal = new AbortController().signal) => {
  const clock = createVirtualClock();
  const running = runChecks(checks, { clock, context: contextOf({}), timeoutMs: 30_000, signal });
  return { clock, running, outcomes: () => clock.run(running) };
};

describe('running checks', () => {
  it('runs them concurrently and keeps their order', async () => {
    const steps: string[] = [];
    const waiting: (() => void)[] = [];
    const slow = (name: string) =>
      checkOf(async () => {
        steps.push(name);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { status: 'False', detail: name };
      });
    const { clock, running } = run([slow('a'), slow('b')]);
    await clock.settle();
    expect(steps).toEqual(['a', 'b']);
    for (const resolve of waiting.reverse()) resolve();
    expect(await running).toEqual([
      { status: 'False', detail: 'a' },
      { status: 'False', detail: 'b' },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('turns exceptions into failures, and keeps the results of other checks', async () => {
    const text: unknown = 'a text';
    const outcomes = await run([
      checkOf(async () => {
        throw new Error('no route to host');
      }),
      checkOf(() => {
        throw new Error('at once');
      }),
      checkOf(() => Promise.reject(text)),
      checkOf(async () => fine),
    ]).outcomes();
    expect(outcomes).toEqual([
      { status: 'Failed', detail: 'no route to host' },
      { status: 'Failed', detail: 'at once' },
      { status: 'Failed', detail: 'a text' },
      fine,
    ]);
  });

  it('turns an invalid status into a failure', async () => {
    const outcomes = await run([checkOf(async () => ({ status: 'Unknown' }) as unknown as CheckResult)]).outcomes();
    const detail = 'the check returned the status "Unknown", which is none';
    expect(outcomes).toEqual([{ status: 'Failed', detail }]);
  });

  it('ends after the timeout, even if a check ignores its signal', async () => {
    let heard: unknown;
    const { clock, running } = run([
      checkOf(() => new Promise(() => undefined)),
      checkOf(async ({ signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        heard = signal.reason;
        throw signal.reason as Error;
      }),
      checkOf(async () => fine),
    ]);
    await clock.advance(30_000);
    const late = { status: 'Failed', detail: 'the check did not finish within 30s' };
    expect(await running).toEqual([late, late, fine]);
    expect(heard).toEqual(new Error('the check did not finish within 30s'));
  });

  it('rejects with the reason of the signal, for any state of the checks', async () => {
    const stop = new AbortController();
    const { clock, running } = run(
      [checkOf(() => new Promise(() => undefined)), checkOf(async () => fine)],
      stop.signal,
    );
    const rejected = expect(running).rejects.toThrow('stopped');
    await clock.settle();
    stop.abort(new Error('stopped'));
    await rejected;
    expect(clock.pending).toBe(0);
  });
});

it('a preCheck that returns false counts as success, and otherwise the check runs', async () => {
  const wrong = checkOf(async () => ({ status: 'False', detail: 'x' }));
  const outcomes = await run([false, true].map((runs) => ({ ...wrong, preCheck: () => runs }))).outcomes();
  expect(outcomes).toEqual([fine, { status: 'False', detail: 'x' }]);
});

it('an errorCodeCheck adds codes to results that are not True', async () => {
  const errorCodeCheck = (detail: string) => [`ERR_${detail}`];
  const results: readonly CheckResult[] = [
    { status: 'False', detail: 'X', codes: ['ERR_A'] },
    { status: 'Progressing', detail: 'X' },
    { status: 'True' },
  ];
  const checks = [...results.map((result) => async () => result), () => Promise.reject(new Error('X'))];
  const outcomes = await run(checks.map((check) => checkOf(check, { errorCodeCheck }))).outcomes();
  expect(outcomes).toEqual([
    { status: 'False', detail: 'X', codes: ['ERR_A', 'ERR_X'] },
    { status: 'Progressing', detail: 'X', codes: ['ERR_X'] },
    fine,
    { status: 'Failed', detail: 'X' },
  ]);
});
