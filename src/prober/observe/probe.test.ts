import { beforeEach, describe, expect, it } from 'vitest';
import { buildLease, buildMachine, buildNode, microTime } from '../../../test/doubles/builders.ts';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ScriptedCall, type ScriptedClient, createScriptedClient } from '../../../test/doubles/scripted-client.ts';
import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import { type DependentsView, emptyProbeMemory } from '../judge/judgement.ts';
import { type ProbeResult, probe } from './probe.ts';
import { defaultSettings, disturbed, held, undisturbed } from '../testing/probe-run.ts';
import { createStaticStore } from '../testing/static-store.ts';
import { gardenerSource } from '../clusters/gardener.ts';

const names = ['node-1', 'node-2'];
const list = (items: readonly unknown[]) => ({ items });

let clock: VirtualClock;
let seed: ScriptedClient;
beforeEach(() => {
  clock = createVirtualClock();
  seed = createScriptedClient(clock);
});

interface Given {
  readonly dependents?: DependentsView;
  /** Age of all leases, in milliseconds. */
  readonly ageMs?: number;
  readonly timeoutMs?: number;
  /** Time until each response of the shoot, in milliseconds. */
  readonly answerMs?: number;
  /** Time of the slowest response in the previous run, in milliseconds. */
  readonly slowestResponseMs?: number;
  /** Last part of the path of the request that fails, or its time and that. */
  readonly fails?: string;
  /** Default: Forbidden. */
  readonly error?: ApiErrorCode;
}

/** A run whose shoot responds; `outcome()` is undefined while the run is in progress. */
const start = (given: Given) => {
  const { dependents = disturbed, ageMs = 0, timeoutMs = 30_000, answerMs = 0, slowestResponseMs } = given;
  const answers: Readonly<Record<string, unknown>> = {
    version: {},
    leases: list(names.map((name) => buildLease({ name, renewTime: microTime(clock.now() - ageMs) }))),
    nodes: list(names.map((name) => buildNode({ name }))),
  };
  const startedAt = clock.monotonic();
  const asked: string[] = [];
  const ask = (path: string): string => {
    const request = `${String(clock.monotonic() - startedAt)} ${path.slice(path.lastIndexOf('/') + 1)}`;
    asked.push(request);
    return request;
  };
  const client: KubeClient = {
    call: async ({ path, decode }, { signal }) => {
      const request = ask(path);
      const name = request.split(' ')[1] ?? '';
      const sentAt = clock.monotonic();
      if (answerMs > 0) await clock.sleep(answerMs, signal);
      const isFailing = given.fails === name || given.fails === request;
      if (isFailing) throw new ApiError({ code: given.error ?? 'Forbidden', message: 'x' });
      return { value: decode(answers[name]), sentAt, receivedAt: clock.monotonic() };
    },
  };
  const seedClient: KubeClient = {
    call: (call, options) => {
      ask(call.path);
      return seed.call(call, options);
    },
  };
  const abort = new AbortController();
  let closed = 0;
  let outcome: ProbeResult | { readonly error: unknown } | undefined;
  probe(
    {
      clock,
      seed: seedClient,
      source: gardenerSource({ kubeConfigSecretName: 'probe' }),
      connector: { clientFor: () => ({ client, close: () => (closed += 1) }) },
      kubeconfigs: createStaticStore(() => 'a kubeconfig'),
    },
    {
      cluster: 'shoot--a',
      secret: 'shoot/probe',
      timeoutMs,
      memory: { ...emptyProbeMemory, slowestResponseMs },
      input: () => ({ settings: defaultSettings, dependents, random: 0 }),
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
  return { outcome: () => outcome, abort, asked, closed: () => closed };
};

const lastList = async (): Promise<ScriptedCall> => {
  await clock.settle();
  expect(seed.waiting).toHaveLength(1);
  return seed.waiting[0]!;
};

const machines = list(names.map((name) => buildMachine({ name })));
const expired = { ageMs: 60_000 };

describe('the list of machines', () => {
  it.each([
    { what: 'leases have expired', given: expired, verdict: 'confirming' },
    { what: 'something is held down', given: { dependents: held }, verdict: 'healthy' },
  ])('is urgent when $what, and the connection to the shoot is closed after it', async ({ given, verdict }) => {
    const { outcome, closed } = start(given);
    const call = await lastList();
    await clock.advance(3_000);
    call.answer(machines);
    await clock.settle();
    expect(call.options).toMatchObject({ priority: 'urgent', timeoutMs: 10_000 });
    expect(outcome()).toMatchObject({ decision: { verdict: { kind: verdict } }, durationMs: 3_000 });
    expect(closed()).toBe(1);
  });

  it('ends with the run, even in its second attempt', async () => {
    const { abort, outcome, closed } = start(expired);
    (await lastList()).fail(new ApiError({ code: 'Timeout', message: 'x' }));
    await lastList();
    const reason = new Error('the prober is being stopped');
    abort.abort(reason);
    await clock.settle();
    expect(outcome()).toEqual({ error: reason });
    expect(closed()).toBe(1);
  });
});

describe('nodes that are only to be known', () => {
  it.each([
    { error: 'Timeout', asked: [], verdict: { kind: 'healthy' } },
    { error: 'Forbidden', asked: ['0 nodes'], verdict: { kind: 'failed', failure: 'machine_list_failed' } },
  ] as const)('are listed when the machines have come, or never will: $error', async ({ error, asked, verdict }) => {
    const run = start({ dependents: undisturbed });
    const call = await lastList();
    const inTurn = ['0 version', '0 leases', '0 machines'];
    expect(run.asked).toEqual(inTurn);
    call.fail(new ApiError({ code: error, message: 'x' }));
    await clock.settle();
    expect(run.asked).toEqual([...inTurn, ...asked]);
    expect(run.outcome()).toMatchObject({ decision: { verdict } });
  });
});

describe('the requests of a run', () => {
  /** Returns when each request was sent. Every response of the shoot takes 100 ms by default. */
  const askedIn = async (given: Given): Promise<readonly string[]> => {
    const { asked } = start({ answerMs: 100, ...given });
    await clock.advance(30_000);
    return asked;
  };

  it.each([
    ['version', ['0 version']],
    ['leases', ['0 version', '100 leases']],
    ['nodes', ['0 version', '100 leases', '200 nodes', '200 machines']],
  ])('end with a failure of %s', async (fails, expected) => {
    expect(await askedIn({ fails })).toEqual(expected);
  });

  const inSteps = ['0 version', '100 leases', '200 nodes', '200 machines'];
  const sideBySide = ['0 version', '0 leases', '100 nodes', '100 machines', '100 leases'];

  it.each([
    { slowestResponseMs: 2_000, timeoutMs: 30_000, expected: inSteps },
    { slowestResponseMs: 2_001, timeoutMs: 30_000, expected: sideBySide },
    // A quarter of a run's time counts as slow, too.
    { slowestResponseMs: 1_000, timeoutMs: 4_000, expected: inSteps },
    { slowestResponseMs: 1_001, timeoutMs: 4_000, expected: sideBySide },
  ])('adapt to responses of $slowestResponseMs ms in a run of $timeoutMs ms', async ({ expected, ...given }) => {
    expect(await askedIn(given)).toEqual(expected);
  });

  it.each([
    { timeoutMs: 5_001, again: ['2500 leases'] },
    { timeoutMs: 5_000, again: [] },
  ])('list the leases again if $timeoutMs ms leave time for it', async ({ timeoutMs, again }) => {
    const slow = { slowestResponseMs: 2_500, answerMs: 2_500, timeoutMs };
    expect(await askedIn(slow)).toEqual(['0 version', '0 leases', '2500 nodes', '2500 machines', ...again]);
  });

  it.each([
    ['ConnectionError', { kind: 'confirming' }],
    ['TooManyRequests', { kind: 'failed', failure: 'throttled' }],
  ] as const)('keep the first list of the leases if the second fails: %s', async (error, verdict) => {
    const { outcome } = start({ ...expired, slowestResponseMs: 2_500, answerMs: 2_500, fails: '2500 leases', error });
    await clock.advance(2_500);
    (await lastList()).answer(machines);
    await clock.advance(2_500);
    expect(outcome()).toMatchObject({ decision: { verdict, memory: { listedAt: 0 } } });
  });

  it('for leases in parallel with the version are ignored if the API server does not respond to the version', async () => {
    const { outcome } = start({ fails: 'version', slowestResponseMs: 9_000 });
    await clock.settle();
    expect(outcome()).toMatchObject({ decision: { verdict: { failure: 'api_server_unreachable' } } });
    expect(outcome()).toHaveProperty('decision.memory.leases', []);
  });
});
