import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type ConnectionFault, KubeconfigError } from '../../kubernetes/api/errors.ts';
import { type ProbeRun, defaultSettings, leasesOf, runProbe, runProbes } from '../testing/probe-run.ts';
import type { ApiServerView } from './probe-input.ts';
import { emptyProbeMemory } from './probe-memory.ts';
import type { ReadError } from './verdict.ts';

const connecting = (code: string) =>
  new ApiError({
    code: 'ConnectionError',
    message: code,
    cause: { code, phase: 'connecting' } satisfies ConnectionFault,
  });
const late = (phase: ConnectionFault['phase']) =>
  new ApiError({ code: 'Timeout', message: phase, cause: { code: 'ETIMEDOUT', phase } satisfies ConnectionFault });
const status = (code: 'ServerError' | 'TooManyRequests' | 'Unauthorized' | 'Forbidden') =>
  new ApiError({ code, message: code });

/** A shoot that was healthy at 60 s; its kubelets have not renewed since 50 s. */
const silent = leasesOf([50_000, 50_000, 50_000]);
const seen = runProbe(emptyProbeMemory, { at: 60_000, leases: silent }).decision.memory;

const up: ApiServerView = { knownSince: 0 };
const unknown: ApiServerView = {};
const down = (since: number, until?: number): ApiServerView => ({
  knownSince: 0,
  unavailable: until === undefined ? { since } : { since, until },
});

/** Results of the good runs, from `back` on, after runs that fail from `first` on. */
const spell = (
  error: ReadError,
  view: ApiServerView,
  { back = 90_000, first = 70_000, rest = [] as number[] } = {},
) => {
  const failing = [first, (first + back) / 2].map((startedAt) => ({
    at: startedAt + 1_000,
    startedAt,
    leases: silent,
    failures: { version: error },
    apiServer: view,
  }));
  const good = [back, ...rest].map((at): ProbeRun => ({ at, leases: silent, apiServer: view }));
  return runProbes(seen, [...failing, ...good]).slice(failing.length);
};

describe('a spell without a list of leases', () => {
  interface Row {
    readonly what: string;
    readonly error: ReadError;
    readonly view: ApiServerView;
    /** Evidence by which the spell counts as downtime. */
    readonly evidence: string | undefined;
    /** True if the first list after the spell scales nothing down. */
    readonly waits?: true;
  }
  const rows: readonly Row[] = [
    { what: '5xx', error: status('ServerError'), view: up, evidence: 'answers' },
    { what: '429', error: status('TooManyRequests'), view: up, evidence: 'answers' },
    { what: 'late responses', error: late('waiting for the answer'), view: up, evidence: 'answers' },
    { what: 'responses that break off', error: late('reading the answer'), view: up, evidence: 'answers' },
    { what: '5xx, not known', error: status('ServerError'), view: unknown, evidence: 'answers' },
    { what: 'refused, and up', error: connecting('ECONNREFUSED'), view: up, evidence: undefined, waits: true },
    { what: 'reset, and up', error: connecting('ECONNRESET'), view: up, evidence: undefined, waits: true },
    { what: 'no handshake, and up', error: late('connecting'), view: up, evidence: undefined, waits: true },
    { what: 'no such name, and up', error: connecting('ENOTFOUND'), view: up, evidence: undefined, waits: true },
    {
      what: 'wrong certificate, and up',
      error: connecting('CERT_HAS_EXPIRED'),
      view: up,
      evidence: undefined,
      waits: true,
    },
    { what: 'expired token, and up', error: status('Unauthorized'), view: up, evidence: undefined },
    { what: 'missing right, and up', error: status('Forbidden'), view: up, evidence: undefined },
    { what: 'no kubeconfig, and up', error: new KubeconfigError('x', 'y'), view: up, evidence: undefined },
    { what: 'refused, not known', error: connecting('ECONNREFUSED'), view: unknown, evidence: 'assumed' },
    { what: 'no handshake, not known', error: late('connecting'), view: unknown, evidence: 'assumed' },
    {
      what: 'refused, known only from a later moment on',
      error: connecting('ECONNREFUSED'),
      view: { knownSince: 70_001 },
      evidence: 'assumed',
    },
    {
      what: 'no such name, not known',
      error: connecting('ENOTFOUND'),
      view: unknown,
      evidence: undefined,
      waits: true,
    },
    { what: 'expired token, not known', error: status('Unauthorized'), view: unknown, evidence: undefined },
    { what: 'no kubeconfig, not known', error: new KubeconfigError('x', 'y'), view: unknown, evidence: undefined },
    ...(
      [
        ['all along', down(65_000)],
        ['from some moment on', down(89_999)],
        ['at its beginning', down(60_000, 70_000)],
        ['in the middle', down(75_000, 76_000)],
      ] as const
    ).flatMap(([when, view]) =>
      [connecting('ECONNREFUSED'), late('connecting'), status('Unauthorized'), new KubeconfigError('x', 'y')].map(
        (error): Row => ({
          what: `${error.message}, without ready replicas ${when}`,
          error,
          view,
          evidence: 'no-available-replica',
        }),
      ),
    ),
    {
      what: 'refused, down only before it',
      error: connecting('ECONNREFUSED'),
      view: down(62_000, 69_999),
      evidence: undefined,
      waits: true,
    },
  ];

  it.each(rows)('$what: downtime by $evidence', ({ error, view, evidence, waits }) => {
    const [first, second] = spell(error, view, { rest: [95_000] });
    expect(first?.decision.downtime?.evidence).toBe(evidence);
    if (evidence !== undefined) {
      expect(first?.decision).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
      expect(first?.decision.memory.history.notOlderThan).toBe(90_000);
      return;
    }
    expect(first?.decision.counts?.expired).toBe(3);
    expect(first?.decision.verdict.kind).toBe(waits === undefined ? 'unhealthy' : 'confirming');
    if (waits) expect(first?.decision.nextRunAt).toBe(95_000);
    expect(second?.decision.verdict.kind).toBe('unhealthy');
  });

  it('of less than 15 s changes nothing', () => {
    for (const { error, view } of rows) {
      const [first] = spell(error, view.unavailable === undefined ? view : up, { back: 84_999 });
      expect(first?.decision.verdict.kind).toBe('unhealthy');
      expect(first?.decision.downtime).toBeUndefined();
    }
  });

  it('counts as soon as one of its runs shows that the API server failed, whatever the other runs show', () => {
    const runs = [connecting('ECONNREFUSED'), status('ServerError'), connecting('ENOTFOUND')].map((error, index) => ({
      at: 70_000 + 8_000 * index,
      leases: silent,
      failures: { version: error },
      apiServer: up,
    }));
    const last = runProbes(seen, [...runs, { at: 95_000, leases: silent, apiServer: up }]).at(-1);
    expect(last?.decision.downtime).toEqual({ evidence: 'answers', ms: 25_000 });
  });
});

describe('the second observation after a spell in which only we were cut off', () => {
  const refused = connecting('ECONNREFUSED');

  it('comes 5 s after the first list, and lists in between scale nothing down', () => {
    const runs = spell(refused, up, { rest: [91_000, 94_999, 95_000] });
    expect(runs.map(({ decision }) => [decision.verdict.kind, decision.nextRunAt])).toEqual([
      ['confirming', 95_000],
      ['confirming', 95_000],
      ['confirming', 95_999],
      ['unhealthy', 105_000],
    ]);
  });

  it('finds leases that were renewed meanwhile', () => {
    const { memory } = spell(refused, up).at(-1)!.decision;
    const renewed = leasesOf([93_000, 94_000, 92_000]);
    expect(runProbe(memory, { at: 95_000, leases: renewed, apiServer: up }).decision.verdict.kind).toBe('healthy');
  });

  it('may show that the API server was down after all: a watch may lag', () => {
    const { memory } = spell(refused, up).at(-1)!.decision;
    const { decision } = runProbe(memory, { at: 95_000, leases: silent, apiServer: down(90_500, 90_500) });
    expect(decision.verdict.kind).toBe('unhealthy');
    const lagging = runProbe(memory, { at: 95_000, leases: silent, apiServer: down(80_000, 91_000) });
    expect(lagging.decision).toMatchObject({
      verdict: { kind: 'healthy' },
      downtime: { evidence: 'no-available-replica' },
    });
    expect(lagging.decision.memory.history.notOlderThan).toBe(90_000);
  });
});

describe('a time without ready replicas between two runs', () => {
  const observation = (view: ApiServerView, at = 90_000) =>
    runProbe(seen, { at, leases: silent, apiServer: view }).decision;

  it.each([
    { view: down(70_000, 85_000), resetTo: 85_000 },
    { view: down(70_000, 84_999), resetTo: undefined },
    { view: down(70_000), resetTo: 90_000 },
    { view: down(80_000), resetTo: undefined },
    // Down for long, but the list at 60 s succeeded.
    { view: down(0, 74_000), resetTo: undefined },
    { view: down(Number.NEGATIVE_INFINITY, 75_000), resetTo: 75_000 },
    // The watch is interrupted.
    { view: { unavailable: { since: 70_000 } }, resetTo: 90_000 },
    { view: { unavailable: { since: 50_000 } }, resetTo: undefined },
    { view: { unavailable: { since: 50_000, until: 80_000 } }, resetTo: 80_000 },
  ])('$view: leases count as no older than $resetTo', ({ view, resetTo }) => {
    const { memory, downtime, counts } = observation(view);
    expect(memory.history.notOlderThan).toBe(resetTo ?? Number.NEGATIVE_INFINITY);
    expect(downtime?.evidence).toBe(resetTo === undefined ? undefined : 'no-available-replica');
    expect(counts?.expired).toBe(resetTo === undefined ? 3 : 0);
  });

  it('before the first run: leases count as no older than its end', () => {
    const view = down(Number.NEGATIVE_INFINITY, 80_000);
    const { decision } = runProbe(emptyProbeMemory, { at: 90_000, leases: silent, apiServer: view });
    expect(decision).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
  });
});

describe('in any sequence of runs', () => {
  const anyError: fc.Arbitrary<ReadError> = fc.constantFrom<ReadError>(
    connecting('ECONNREFUSED'),
    connecting('ENOTFOUND'),
    late('connecting'),
    late('waiting for the answer'),
    status('ServerError'),
    status('Unauthorized'),
    new KubeconfigError('x', 'y'),
  );
  const anyRun = fc.record({
    gap: fc.integer({ min: 1_000, max: 20_000 }),
    error: fc.option(anyError, { nil: undefined }),
  });
  const runsOf = (steps: readonly { gap: number; error: ReadError | undefined }[], view: ApiServerView) => {
    let at = 60_000;
    return steps.map(({ gap, error }): ProbeRun => {
      at += gap;
      return {
        at,
        leases: silent,
        apiServer: view,
        ...(error === undefined ? {} : { failures: { version: error } }),
      };
    });
  };

  it('a spell while the API server is up delays the verdict by 5 s at most', () => {
    const ours = anyRun.filter(({ error }) => error === undefined || !/Server|waiting/.test(error.message));
    fc.assert(
      fc.property(fc.array(ours, { maxLength: 12 }), (steps) => {
        const runs = runsOf(steps, up);
        const good = runProbes(seen, runs).filter(({ decision }) => decision.verdict.kind !== 'failed');
        for (const { decision } of good) {
          const { unconfirmedSpell, history } = decision.memory;
          expect(history.notOlderThan).toBe(Number.NEGATIVE_INFINITY);
          const isOld = (history.lastObservedAt ?? 0) >= 50_000 + defaultSettings.expiryAgeMs;
          if (isOld) expect(decision.verdict.kind).toBe(unconfirmedSpell === undefined ? 'unhealthy' : 'confirming');
          if (decision.verdict.kind === 'confirming') {
            expect(decision.nextRunAt).toBeLessThanOrEqual((unconfirmedSpell?.until ?? 0) + 6_000);
          }
        }
      }),
    );
  });

  it('more evidence of downtime never makes a lease older', () => {
    const views: fc.Arbitrary<ApiServerView> = fc.constantFrom(unknown, down(70_000), down(70_000, 95_000));
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 12 }), views, (steps, view) => {
        const known = runProbes(seen, runsOf(steps, up));
        const more = runProbes(seen, runsOf(steps, view));
        for (const [index, { decision }] of known.entries()) {
          const other = more[index]!.decision.memory.history.notOlderThan;
          expect(other).toBeGreaterThanOrEqual(decision.memory.history.notOlderThan);
        }
      }),
    );
  });
});
