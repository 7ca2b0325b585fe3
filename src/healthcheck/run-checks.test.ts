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
    const outcomes = await run([
      checkOf(async () => ({ status: 'Unknown' }) as unknown as CheckResult),
      checkOf(async () => ({}) as unknown as CheckResult),
    ]).outcomes();
    expect(outcomes).toEqual([
      { status: 'Failed', detail: 'the check returned the status "Unknown", which is none' },
      { status: 'Failed', detail: 'the check returned the status undefined, which is none' },
    ]);
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

describe('a preCheck', () => {
  const wrong = checkOf(async () => ({ status: 'False', detail: 'x' }));

  it.each([
    ['that returns false counts as success', () => false, fine],
    ['that returns true lets the check run', () => true, { status: 'False', detail: 'x' }],
  ])('%s', async (_, preCheck, outcome) => {
    expect(await run([{ ...wrong, preCheck }]).outcomes()).toEqual([outcome]);
  });
});

describe('an errorCodeCheck', () => {
  const errorCodeCheck = (detail: string) => [`ERR_${detail}`];

  it.each([
    ['adds to the codes', { status: 'False', detail: 'X', codes: ['ERR_A'] }, ['ERR_A', 'ERR_X']],
    ['adds codes if there are none', { status: 'Progressing', detail: 'X' }, ['ERR_X']],
    ['is not called for a success', { status: 'True' }, undefined],
  ] as const)('%s', async (_, result, codes) => {
    const [outcome] = await run([checkOf(async () => result, { errorCodeCheck })]).outcomes();
    expect(outcome).toEqual(codes === undefined ? result : { ...result, codes });
  });

  it('is not called for a check that could not be carried out', async () => {
    const check = checkOf(() => Promise.reject(new Error('X')), { errorCodeCheck });
    expect(await run([check]).outcomes()).toEqual([{ status: 'Failed', detail: 'X' }]);
  });
});
