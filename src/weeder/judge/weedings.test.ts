import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ServiceState, type ServiceStep, advanceService } from './weedings.ts';

const watchDurationMs = 100;

const advance = (before: ServiceState | undefined, now: number, seen: { ready: boolean; wasUnready?: boolean }) =>
  advanceService(before, {
    namespace: 'ns',
    service: 'etcd',
    now,
    watchDurationMs,
    ready: seen.ready,
    wasUnready: seen.wasUnready ?? false,
  });

const weeding = (readyAt: number) => ({
  namespace: 'ns',
  service: 'etcd',
  readyAt,
  endsAt: readyAt + watchDurationMs,
});

describe('advanceService', () => {
  const running: ServiceState = { ready: true, weeding: weeding(0) };
  const rows: readonly (readonly [string, ServiceState | undefined, number, object, ServiceStep])[] = [
    [
      'ready at the first observation',
      undefined,
      5,
      { ready: true },
      { state: { ready: true, weeding: weeding(5) }, started: weeding(5) },
    ],
    ['not ready at the first observation', undefined, 5, { ready: false }, { state: { ready: false } }],
    [
      'becomes ready',
      { ready: false },
      7,
      { ready: true },
      { state: { ready: true, weeding: weeding(7) }, started: weeding(7) },
    ],
    ['stays ready', running, 50, { ready: true }, { state: running }],
    ['stays ready until just before the end', running, 99, { ready: true }, { state: running }],
    [
      'stays ready until the end',
      running,
      100,
      { ready: true },
      { state: { ready: true }, ended: { weeding: weeding(0), why: 'expired' } },
    ],
    ['stays ready afterwards', { ready: true }, 200, { ready: true }, { state: { ready: true } }],
    [
      'becomes not ready',
      running,
      50,
      { ready: false },
      { state: { ready: false }, ended: { weeding: weeding(0), why: 'not-ready' } },
    ],
    [
      'was not ready between two observations',
      running,
      50,
      { ready: true, wasUnready: true },
      {
        state: { ready: true, weeding: weeding(50) },
        started: weeding(50),
        ended: { weeding: weeding(0), why: 'replaced' },
      },
    ],
    [
      'was not ready between two observations, without a weeding',
      { ready: true },
      300,
      { ready: true, wasUnready: true },
      { state: { ready: true, weeding: weeding(300) }, started: weeding(300) },
    ],
    ['stays not ready', { ready: false }, 50, { ready: false, wasUnready: true }, { state: { ready: false } }],
  ];

  it.each(rows)('%s', (_, before, now, seen, expected) => {
    expect(advance(before, now, seen as { ready: boolean })).toEqual(expected);
  });

  it('has at most one weeding, which starts when the service becomes ready and never outlasts its duration or the readiness', () => {
    const observations = fc.array(
      fc.record({ after: fc.integer({ min: 0, max: 80 }), ready: fc.boolean(), wasUnready: fc.boolean() }),
    );
    fc.assert(
      fc.property(observations, (steps) => {
        let state: ServiceState | undefined;
        let now = 0;
        let open = 0;
        for (const { after, ready, wasUnready } of steps) {
          now += after;
          const before = state;
          const step = advance(state, now, { ready, wasUnready });
          state = step.state;
          open += (step.started === undefined ? 0 : 1) - (step.ended === undefined ? 0 : 1);
          expect(open).toBe(state.weeding === undefined ? 0 : 1);
          expect(step.started !== undefined).toBe(ready && (before?.ready !== true || wasUnready));
          if (state.weeding !== undefined) expect(now).toBeLessThan(state.weeding.endsAt);
          if (!ready) expect(state.weeding).toBeUndefined();
        }
      }),
    );
  });
});
