import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorCode } from '../../domain/index.ts';
import type { KubeClient } from '../../ports/index.ts';
import {
  buildLease,
  buildMachine,
  buildNode,
  createFakeClock,
  createScriptedClient,
  type FakeClock,
  microTime,
  type ScriptedCall,
  type ScriptedClient,
} from '../../testing/index.ts';
import { type RunResult, observeRun } from './observe.ts';
import { defaultSettings, disturbed, held } from './testing/probe-run.ts';
import { type DependentsView, emptyProbeMemory } from './verdict.ts';

const names = ['node-1', 'node-2'];
const list = (items: readonly unknown[]) => ({ items });

let clock: FakeClock;
let seed: ScriptedClient;
beforeEach(() => {
  clock = createFakeClock();
  seed = createScriptedClient(clock);
});

interface Given {
  readonly dependents?: DependentsView;
  /** Age of all leases. */
  readonly ageMs?: number;
}

/** A run whose shoot answers all it is asked; `outcome()` is undefined while it is under way. */
const start = ({ dependents = disturbed, ageMs = 0 }: Given) => {
  const answers: Readonly<Record<string, unknown>> = {
    version: {},
    leases: list(names.map((name) => buildLease({ name, renewTime: microTime(clock.now() - ageMs) }))),
    nodes: list(names.map((name) => buildNode({ name }))),
  };
  const client: KubeClient = {
    call: async ({ path, decode }) => {
      const now = clock.monotonic();
      return { value: decode(answers[path.slice(path.lastIndexOf('/') + 1)]), sentAt: now, receivedAt: now };
    },
  };
  const abort = new AbortController();
  let closed = 0;
  let outcome: RunResult | { readonly error: unknown } | undefined;
  observeRun(
    {
      clock,
      seed,
      connector: { connect: () => ({ client, close: () => (closed += 1) }) },
      kubeconfigs: {
        synced: true,
        get: () => 'a kubeconfig',
        entries: () => [],
        subscribe: () => () => undefined,
        whenSynced: () => Promise.resolve(),
      },
    },
    {
      namespace: 'shoot--a',
      kubeConfigSecretName: 'probe',
      timeoutMs: 30_000,
      dependents: () => dependents,
      circumstances: () => ({ settings: defaultSettings, memory: emptyProbeMemory, random: 0 }),
      signal: abort.signal,
    },
  ).then(
    (result) => {
      outcome = result;
    },
    (error: unknown) => {
      outcome = { error };
    },
  );
  return { outcome: () => outcome, abort, closed: () => closed };
};

const lastList = async (): Promise<ScriptedCall> => {
  await clock.settle();
  expect(seed.waiting).toHaveLength(1);
  return seed.waiting[0]!;
};

const fail = async (code: ApiErrorCode): Promise<void> => {
  (await lastList()).fail(new ApiError({ code, message: 'x' }));
  await clock.settle();
};

const limits = () => seed.calls.map(({ options: { lane, timeoutMs } }) => [lane, timeoutMs]);
const machines = list(names.map((name) => buildMachine({ name })));
const expired = { ageMs: 60_000 };

describe('the list of machines', () => {
  it.each([
    { what: 'leases have expired', given: expired, verdict: 'confirm' },
    { what: 'something is held down', given: { dependents: held }, verdict: 'scale-up' },
  ])('is urgent when $what, and hangs for 5 s at most before it is tried again', async ({ given, verdict }) => {
    const { outcome, closed } = start(given);
    await lastList();
    await clock.advance(5_000);
    await fail('Timeout');
    (await lastList()).answer(machines);
    await clock.settle();
    expect(limits()).toEqual([
      ['urgent', 5_000],
      ['urgent', 25_000],
    ]);
    expect(outcome()).toMatchObject({ decision: { verdict: { kind: verdict } }, durationMs: 5_000 });
    expect(closed()).toBe(1);
  });

  it('is tried twice, and no more', async () => {
    const { outcome } = start(expired);
    await fail('Timeout');
    await fail('Timeout');
    expect(outcome()).toMatchObject({ decision: { verdict: { kind: 'failed', failure: 'lease_list_failed' } } });
    expect(seed.calls).toHaveLength(2);
  });

  it.each<ApiErrorCode>(['ConnectionError', 'Forbidden', 'TooManyRequests'])(
    'is not tried again after %s',
    async (code) => {
      const { outcome } = start(expired);
      await fail(code);
      expect(outcome()).toMatchObject({ decision: { verdict: { kind: 'failed', error: { code } } } });
      expect(seed.calls).toHaveLength(1);
    },
  );

  it('takes its time when nothing is urgent', async () => {
    const { outcome } = start({ dependents: disturbed });
    await fail('Timeout');
    expect(limits()).toEqual([[undefined, 30_000]]);
    expect(outcome()).toMatchObject({ decision: { verdict: { kind: 'failed' } } });
  });

  it('ends with the run, its second try too', async () => {
    const { abort, outcome, closed } = start(expired);
    await fail('Timeout');
    const reason = new Error('the prober is being stopped');
    const { options } = await lastList();
    expect(options.timeoutMs).toBe(30_000);
    abort.abort(reason);
    await clock.settle();
    expect(outcome()).toEqual({ error: reason });
    expect(closed()).toBe(1);
  });
});
