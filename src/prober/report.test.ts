import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { type RecordingMeter, createRecordingMeter } from '../../test/doubles/recording-meter.ts';
import { ApiError, type ApiErrorCode, KubeconfigError } from '../kubernetes/api/errors.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import type { RecordedEvent } from '../telemetry/events.ts';
import { type ProbeMemory, emptyProbeMemory } from './judge/probe-memory.ts';
import type { Verdict } from './judge/verdict.ts';
import { type Scaling, createScaling } from './plan/scaling.ts';
import type { Direction } from './plan/patch-plan.ts';
import type { Operation } from './plan/operation.ts';
import { type ProberReport, createProberReport } from './report.ts';
import type { EndedRun } from './report/run.ts';
import { dependent, downVerdict, upVerdict } from './testing/cases.ts';
import { deployment, objectOf, stateOf } from './testing/seed-model.ts';

const kcm = deployment('kcm');
const key = refKey(kcm);

let clock: VirtualClock;
let logger: RecordingLogger;
let meter: RecordingMeter;
let report: ProberReport;
beforeEach(() => {
  clock = createVirtualClock();
  logger = createRecordingLogger();
  meter = createRecordingMeter();
  report = createProberReport({ clock, logger, meter, events: { record: () => undefined }, dryRun: false });
});

const failed = (code: ApiErrorCode, message: string): Verdict => ({
  kind: 'failed',
  failure: 'api_server_unreachable',
  error: new ApiError({ code, message }),
});

it('reports why a shoot is no longer probed, and what happens to held resources', () => {
  report.proberStopped('a', { reason: 'hibernated', releasePolicy: 'release' });
  expect(logger.lines).toMatchObject([
    { message: 'no longer probing', fields: { namespace: 'a', reason: 'hibernated', releasePolicy: 'release' } },
  ]);
});

/** A run that ended with this verdict. */
const runOf = (verdict: Verdict, given: Partial<EndedRun> & { readonly memory?: ProbeMemory } = {}): EndedRun => {
  const { memory = emptyProbeMemory, ...rest } = given;
  const decision = { verdict, reason: '', nextRunAt: 0, memory };
  const result = { decision, durationMs: 1 };
  return { result, previous: undefined, held: 0, missing: [], isUnprotected: () => false, ...rest };
};

describe('reports about the runs of a shoot', () => {
  /** Returns the level of each run's log line. */
  const levelsOf = (verdicts: readonly Verdict[]): readonly string[] => {
    verdicts.forEach((verdict, index) => {
      report.runEnded('a', runOf(verdict, { previous: verdicts[index - 1] }));
    });
    return logger.lines.map(({ level }) => level);
  };

  const refused = failed('ConnectionError', 'refused');
  const unusable = (field: string, problem: string): Verdict => ({
    kind: 'failed',
    failure: 'kubeconfig_unusable',
    error: new KubeconfigError(field, problem),
  });

  it.each<{ readonly what: string; readonly verdicts: readonly Verdict[]; readonly levels: readonly string[] }>([
    { what: 'the first failure is logged as an error', verdicts: [refused], levels: ['error'] },
    {
      what: 'the same failure with another text is not logged as an error again',
      verdicts: [failed('Timeout', 'after 9 ms'), failed('Timeout', 'after 8 ms')],
      levels: ['error', 'debug'],
    },
    {
      what: 'another failure is',
      verdicts: [refused, failed('Timeout', 'x'), { ...refused, failure: 'lease_list_failed' } as Verdict],
      levels: ['error', 'error', 'error'],
    },
    {
      what: 'a failure of another field of the kubeconfig is',
      verdicts: [unusable('a', 'x'), unusable('a', 'y'), unusable('b', 'x')],
      levels: ['error', 'debug', 'error'],
    },
    {
      what: 'a failure is logged as an error again after a verdict',
      verdicts: [refused, upVerdict, upVerdict, refused, refused],
      levels: ['error', 'info', 'debug', 'error', 'debug'],
    },
    {
      what: 'each change of the verdict is logged',
      verdicts: [upVerdict, downVerdict, { kind: 'skipped' }, { kind: 'skipped' }],
      levels: ['info', 'info', 'info', 'debug'],
    },
  ])('$what', ({ verdicts, levels }) => {
    expect(levelsOf(verdicts)).toEqual(levels);
  });
});

it('the shoots of each latest verdict are counted, until they are forgotten', () => {
  const judge = (namespace: string, verdict: Verdict): void => report.runEnded(namespace, runOf(verdict));
  const counts = () =>
    ['healthy', 'unhealthy', 'api_server_unreachable'].map((verdict) => meter.value('dwd_prober_shoots', { verdict }));
  judge('a', upVerdict);
  judge('b', upVerdict);
  judge('b', upVerdict);
  expect(counts()).toEqual([2, undefined, undefined]);
  judge('b', failed('Timeout', ''));
  expect(counts()).toEqual([1, undefined, 1]);
  judge('b', downVerdict);
  expect(counts()).toEqual([1, 1, 0]);
  report.forget('a');
  report.forget('b');
  expect(counts()).toEqual([0, 0, 0]);
});

describe('reports about required resources that are missing', () => {
  it('each is counted, and reported once when it is found missing and once when it exists', () => {
    const counts = [['a'], ['a'], ['a', 'b'], ['b'], []].map((missing) => {
      report.runEnded('x', runOf(upVerdict, { previous: upVerdict, missing }));
      return meter.value('dwd_prober_missing_resources', { namespace: 'x' });
    });
    expect(counts).toEqual([1, 1, 2, 1, 0]);
    const heard = logger.lines.filter(({ fields }) => fields.resource !== undefined);
    expect(heard.map(({ level, fields }) => `${level} ${String(fields.resource)}`)).toEqual([
      'error a',
      'error b',
      'info a',
      'info b',
    ]);
  });
});

describe('reports about a shoot that flaps', () => {
  it.each([false, true])(
    'are made once each time, in log, gauge and an Event of its namespace; dry run: %s',
    (dryRun) => {
      const recorded: RecordedEvent[] = [];
      const events = { record: (event: RecordedEvent) => recorded.push(event) };
      const meter = createRecordingMeter();
      const flaps = createProberReport({ clock, logger, meter, events, dryRun });
      const memoryOf = (isFlapping: boolean) => ({
        ...emptyProbeMemory,
        outage: { expiredBefore: new Set<string>(), isFlapping },
      });
      for (const isFlapping of [false, true, true, false, true]) {
        flaps.runEnded('x', runOf(downVerdict, { previous: downVerdict, memory: memoryOf(isFlapping) }));
        expect(meter.value('dwd_prober_flapping', { namespace: 'x' })).toBe(isFlapping ? 1 : 0);
      }
      const heard = logger.lines.filter(({ message }) => message.startsWith('flapping'));
      expect(heard.map(({ level }) => level)).toEqual(['warn', 'warn']);
      const regarding = { apiVersion: 'v1', kind: 'Namespace', name: 'x', namespace: 'x' };
      expect(recorded).toMatchObject(
        dryRun ? [] : [1, 2].map(() => ({ regarding, reason: 'MeltdownProtectionFlapping' })),
      );
    },
  );
});

describe('the word for a verdict', () => {
  it.each<[Verdict, string]>([
    [upVerdict, 'healthy'],
    [downVerdict, 'unhealthy'],
    [{ kind: 'confirming' }, 'confirming'],
    [{ kind: 'skipped' }, 'skipped'],
    [{ kind: 'landing', renewed: 1, awaited: 2, until: 9 }, 'landing'],
    [failed('ConnectionError', 'refused'), 'api_server_unreachable'],
  ])('is the same in log and metric: %j', (verdict, word) => {
    report.runEnded('x', runOf(verdict));
    expect(logger.lines.map(({ fields }) => fields.verdict)).toEqual([word]);
    expect(meter.value('dwd_prober_runs_total', { namespace: 'x', result: word })).toBe(1);
  });
});

const flowOf = (direction: Direction, phase: Operation['phase']): Scaling => {
  const desired = { direction, scope: 'all', reason: '3/5 node leases expired', since: 0, judgedAt: 0 } as const;
  const flow = createScaling(desired, { resources: [dependent(kcm)], now: 0, inFlight: new Set() });
  return { ...flow, operations: flow.operations.map((operation) => ({ ...operation, phase })) };
};

describe('reports about the flows of a shoot', () => {
  /** Ends a flow, with an error if `message` is set. Returns the level of the log line about its resource. */
  const end = (message: string | undefined, direction: Direction = 'down', namespace = 'a'): string | undefined => {
    const phase: Operation['phase'] =
      message === undefined
        ? { kind: 'done', outcome: 'scaled' }
        : { kind: 'failed', error: new ApiError({ code: 'Forbidden', message }) };
    const before = logger.lines.length;
    const ended = { end: message === undefined ? 'completed' : 'failed', now: 1_000, held: 0 } as const;
    report.flowEnded(namespace, { flow: flowOf(direction, phase), ...ended });
    return logger.lines.slice(before).find((line) => line.fields.resource === key)?.level;
  };

  it('a failure is one error line until it changes', () => {
    expect([end('x'), end('x'), end('x')]).toEqual(['error', 'debug', 'debug']);
    expect([end('y'), end('y'), end('x')]).toEqual(['error', 'debug', 'error']);
    expect([end('x', 'up'), end('x', 'up'), end('x', 'down')]).toEqual(['error', 'debug', 'error']);
  });

  it('a failure is reported again after a success', () => {
    expect([end('x'), end(undefined), end('x')]).toEqual(['error', undefined, 'error']);
  });

  it('a failure of another shoot is reported separately, and again after the shoot was forgotten', () => {
    expect([end('x'), end('x', 'down', 'b'), end('x')]).toEqual(['error', 'error', 'debug']);
    report.forget('a');
    expect([end('x'), end('x', 'down', 'b')]).toEqual(['error', 'debug']);
  });

  it('each failure is counted', () => {
    for (const message of ['x', 'x', undefined]) end(message);
    const operations = (result: string) =>
      meter.value('dwd_prober_scale_operations_total', { namespace: 'a', direction: 'down', result });
    expect([operations('failed'), operations('scaled')]).toEqual([2, 1]);
    report.forget('a');
    expect(operations('failed')).toBeUndefined();
  });

  it('the start of holding comes from the resources, else from the first time they were seen held', async () => {
    const since = () => meter.value('dwd_prober_held_since_timestamp_seconds', { namespace: 'a' });
    const flow = flowOf('down', { kind: 'done', outcome: 'scaled' });
    const ended = { flow, end: 'completed', now: 1 } as const;
    const first = clock.now() / 1_000;
    report.flowEnded('a', { ...ended, held: 1 });
    await clock.advance(5_000);
    report.flowEnded('a', { ...ended, held: 2 });
    expect(since()).toBe(first);
    report.flowEnded('a', { ...ended, held: 2, heldSince: 1_500 });
    expect(since()).toBe(1.5);
    report.flowEnded('a', { ...ended, held: 0 });
    expect(since()).toBeUndefined();
    report.flowEnded('a', { ...ended, held: 1 });
    expect(since()).toBe(first + 5);
  });

  it('the held resources are counted', () => {
    const held = () => meter.value('dwd_prober_held_resources', { namespace: 'a' });
    const flow = flowOf('down', { kind: 'done', outcome: 'scaled' });
    for (const count of [3, 0]) {
      report.flowEnded('a', { flow, end: 'completed', now: 1, held: count });
      expect(held()).toBe(count);
    }
    report.forget('a');
    expect(held()).toBeUndefined();
  });
});

describe('reports about the requests of a flow', () => {
  const base = stateOf(objectOf(kcm, { replicas: 0 }));
  const flow = flowOf('up', { kind: 'deciding' });
  const write = { kind: 'write', key, write: { base, kind: 'object', replicas: 1 } } as const;
  const read = { kind: 'read', key } as const;

  it.each([
    { action: write, error: { code: 'ServerError' }, level: 'error' },
    { action: write, error: { code: 'Timeout' }, level: 'error' },
    { action: write, error: { code: 'Timeout', rateLimited: true }, level: 'debug' },
    { action: write, error: { code: 'Rejected' }, level: 'info' },
    { action: read, error: { code: 'ServerError' }, level: 'info' },
    { action: read, error: { code: 'Timeout', rateLimited: true }, level: 'debug' },
  ] as const)('$action.kind, $error: $level', ({ action, error, level }) => {
    const outcome = { key, result: { ok: false, error: new ApiError({ ...error, message: 'no' }) } } as const;
    report.responseReceived('a', { flow, action, outcome, now: 0 });
    expect(logger.lines.map((line) => line.level)).toEqual([level]);
    expect(JSON.stringify(logger.lines[0])).toContain('"no"');
  });

  it("another writer's undone change is reported with the writer: log, metric and Event", () => {
    const events: RecordedEvent[] = [];
    const deps = { clock, logger, events: { record: (event: RecordedEvent) => events.push(event) } };
    const held = stateOf(objectOf(kcm, { replicas: 2 }));
    const action = {
      kind: 'write',
      key,
      write: { base: held, kind: 'object', replicas: 0, undoes: 'kubectl-scale' },
    } as const;
    const answer = { flow: flowOf('down', { kind: 'deciding' }), action, now: 0, ref: kcm } as const;
    const outcome = { key, result: { ok: true, value: base } } as const;
    const labels = { namespace: 'a', resource: key, manager: 'kubectl-scale' };
    const counts = [false, true].map((dryRun) => {
      const counter = createRecordingMeter();
      createProberReport({ ...deps, meter: counter, dryRun }).responseReceived('a', { ...answer, outcome });
      return counter.value('dwd_prober_foreign_changes_undone_total', labels);
    });
    expect(logger.lines.filter(({ fields }) => fields.manager === 'kubectl-scale')).toMatchObject([
      { level: 'warn', message: "undone another writer's change of replicas", fields: { resource: key, replicas: 2 } },
      { level: 'warn', message: "would have undone another writer's change of replicas" },
    ]);
    expect(counts).toEqual([1, undefined]);
    expect(events.map(({ reason }) => reason)).toEqual([
      'MeltdownProtectionForeignChange',
      'MeltdownProtectionScaledDown',
    ]);
    expect(events[0]?.message).toContain('Undid kubectl-scale, who had set replicas to 2: 3/5 node leases expired');
    expect(events[0]?.message).toContain('dependency-watchdog.gardener.cloud/ignore-scaling=true');
  });

  it('a stored number of replicas that cannot be read is shortened in the log', () => {
    const action = { ...write, write: { ...write.write, unreadable: '9'.repeat(200_000) } };
    report.responseReceived('a', { flow, action, outcome: { key, result: { ok: true, value: base } }, now: 0 });
    expect(logger.lines[0]).toMatchObject({ level: 'error', fields: { stored: `${'9'.repeat(100)}...` } });
  });
});
