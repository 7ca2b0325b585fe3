import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { type RecordingMeter, createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { RecordedEvent } from '../../telemetry/event-recorder.ts';
import { type ProbeMemory, emptyProbeMemory, type Verdict } from '../judge/judgement.ts';
import type { Direction } from '../scale/patch-plan.ts';
import type { Operation } from '../scale/operation.ts';
import { type Emit, type EventOf, type ShootProberView, emitTo } from './events.ts';
import { showStates } from './metrics.ts';
import { reportEvents } from './report.ts';
import { ShootStates } from './state.ts';
import { downVerdict, objectOf, stateOf, upVerdict } from '../testing/resources.ts';
import { decisionOf, kcm, runEnded, scalingOf, sightOf } from '../testing/events.ts';

const key = refKey(kcm);

let clock: VirtualClock;
let logger: RecordingLogger;
let meter: RecordingMeter;
let recorded: RecordedEvent[];
let emit: Emit;
let seed: string | undefined;
beforeEach(() => {
  seed = undefined;
  clock = createVirtualClock();
  logger = createRecordingLogger();
  meter = createRecordingMeter();
  recorded = [];
  emit = observeAll({ meter });
});

/** Returns the function that tells events to log, metrics, Kubernetes Events and state. */
const observeAll = ({ meter, dryRun = false }: { readonly meter: RecordingMeter; readonly dryRun?: boolean }): Emit => {
  const leads = (): boolean => true;
  const states = new ShootStates({ clock, dryRun, leads, pauseOf: () => undefined });
  showStates({ meter, states, leads, unreadablePauses: () => [] });
  const events = { record: (event: RecordedEvent) => recorded.push(event) };
  return emitTo([states.observe, reportEvents({ clock, logger, meter, events, dryRun, leads, seed: () => seed })]);
};

/** Reads a gauge of the state at a later scrape. */
const scrape = async (name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> => {
  await clock.advance(1_000);
  return meter.value(name, labels);
};

/** Makes the prober of a shoot show this from now on. */
const step = (cluster: string, view: Partial<ShootProberView> = {}): void => {
  const shown = { ...sightOf(), ...view };
  emit({ kind: 'stepped', cluster, readView: () => shown });
};

const failed = (code: ApiErrorCode, message: string): Verdict => ({
  kind: 'failed',
  failure: 'api_server_unreachable',
  error: new ApiError({ code, message }),
});

it('names the seed, if its Clusters do, in Events and in the log', () => {
  const lack = { kind: 'lack-changed', lack: 'blind', why: '401 Unauthorized', do: '' } as const;
  emit({ ...lack, cluster: 'a' });
  seed = 'aws-eu10';
  emit({ ...lack, cluster: 'b' });
  const message = 'Blind: the last probes failed: 401 Unauthorized.';
  expect(recorded.map((event) => event.message)).toEqual([message, `Seed aws-eu10: ${message}`]);
  expect(logger.lines.map(({ fields }) => fields.seed)).toEqual([undefined, 'aws-eu10']);
});

it('counts an unexpected error, and logs it with its stack', () => {
  emit({ kind: 'unexpected-error', cluster: 'a', error: new TypeError('a bug') });
  expect(meter.value('dwd_prober_unexpected_errors_total', { namespace: 'a' })).toBe(1);
  const fields = { namespace: 'a', error: expect.any(TypeError) as unknown };
  expect(logger.lines).toMatchObject([{ level: 'error', message: 'unexpected error: this is a bug', fields }]);
});

/** A run that ended with this verdict. */
const runOf = (cluster: string, verdict: Verdict): EventOf<'run-ended'> => runEnded(cluster, decisionOf(verdict));

describe('reports about the runs of a shoot', () => {
  /** Returns the level of each run's log line. */
  const levelsOf = (verdicts: readonly Verdict[]): readonly string[] => {
    for (const verdict of verdicts) emit(runOf('a', verdict));
    return logger.lines.map(({ level }) => level);
  };

  const refused = failed('ConnectionError', 'refused');
  const unusable = (field: string, problem: string): Verdict => ({
    kind: 'failed',
    failure: 'kubeconfig_unusable',
    error: new KubeconfigError(field, problem),
  });

  it.each<readonly [what: string, verdicts: readonly Verdict[], levels: readonly string[]]>([
    [
      'the same failure with another text is not logged as an error again',
      [failed('Timeout', 'after 9 ms'), failed('Timeout', 'after 8 ms')],
      ['error', 'debug'],
    ],
    [
      'another failure is',
      [refused, failed('Timeout', 'x'), { ...refused, failure: 'lease_list_failed' } as Verdict],
      ['error', 'error', 'error'],
    ],
    [
      'a failure of another field of the kubeconfig is',
      [unusable('a', 'x'), unusable('a', 'y'), unusable('b', 'x')],
      ['error', 'debug', 'error'],
    ],
    [
      'a failure is logged as an error again after a verdict, of which each change is logged',
      [refused, upVerdict, upVerdict, downVerdict, refused],
      ['error', 'info', 'debug', 'info', 'error'],
    ],
  ])('%s', (_, verdicts, levels) => {
    expect(levelsOf(verdicts)).toEqual(levels);
  });
});

it('the shoots of each latest verdict are counted, until they are forgotten', async () => {
  const judge = (cluster: string, verdict: Verdict): void => {
    step(cluster);
    emit(runOf(cluster, verdict));
  };
  const counts = async () => {
    await clock.advance(1_000);
    const verdicts = ['healthy', 'unhealthy', 'api_server_unreachable'];
    return verdicts.map((verdict) => meter.value('dwd_prober_shoots', { verdict }));
  };
  judge('a', upVerdict);
  judge('b', upVerdict);
  judge('b', upVerdict);
  expect(await counts()).toEqual([2, undefined, undefined]);
  judge('b', failed('Timeout', ''));
  expect(await counts()).toEqual([1, undefined, 1]);
  judge('b', downVerdict);
  expect(await counts()).toEqual([1, 1, 0]);
  for (const cluster of ['a', 'b']) emit({ kind: 'forgotten', cluster });
  expect(await counts()).toEqual([0, 0, 0]);
});

it('a shoot that flaps is reported once each time, in log, gauge and an Event of its namespace', async () => {
  const memoryOf = (isFlapping: boolean): ProbeMemory => ({
    ...emptyProbeMemory,
    outage: { expiredBefore: new Set<string>(), isFlapping },
  });
  let memoryBefore = emptyProbeMemory;
  for (const isFlapping of [false, true, true, false, true]) {
    const memory = memoryOf(isFlapping);
    emit(runEnded('x', decisionOf(downVerdict, { memory }), { before: memoryBefore }));
    step('x', sightOf({ probe: memory }));
    memoryBefore = memory;
    expect(await scrape('dwd_prober_flapping', { namespace: 'x' })).toBe(isFlapping ? 1 : 0);
  }
  const heard = logger.lines.filter(({ message }) => message.startsWith('flapping'));
  expect(heard.map(({ level }) => level)).toEqual(['warn', 'warn']);
  const regarding = { apiVersion: 'v1', kind: 'Namespace', name: 'x', namespace: 'x' };
  expect(recorded).toMatchObject([1, 2].map(() => ({ regarding, reason: 'MeltdownProtectionFlapping' })));
});

it('a failure of the API server from whose end silence counts is told once, with its length', () => {
  const failing = { ...emptyProbeMemory, provedSince: 1_000 };
  const memory = { ...emptyProbeMemory, excusedUntil: 19_000 };
  for (const before of [failing, memory]) {
    emit(runEnded('a', decisionOf(upVerdict, { memory }), { before }));
  }
  expect(logger.lines.flatMap(({ fields }) => fields.seconds ?? [])).toEqual([18]);
});

it.each<[Verdict, string]>([
  [upVerdict, 'healthy'],
  [{ kind: 'landing', renewed: 1, awaited: 2, late: [], latest: 9 }, 'landing'],
  [failed('ConnectionError', 'refused'), 'api_server_unreachable'],
])('the word for a verdict is the same in log and metric: %j', (verdict, word) => {
  emit(runOf('x', verdict));
  expect(logger.lines.map(({ fields }) => fields.verdict)).toEqual([word]);
  expect(meter.value('dwd_prober_runs_total', { namespace: 'x', result: word })).toBe(1);
});

describe('reports about the scalings of a shoot', () => {
  /** Ends a scaling, with an error if `message` is set. Returns the level of the log line about its resource. */
  const end = (message: string | undefined, direction: Direction = 'down', cluster = 'a'): string | undefined => {
    const phase: Operation['phase'] =
      message === undefined
        ? { kind: 'done', outcome: 'scaled' }
        : { kind: 'failed', error: new ApiError({ code: 'Forbidden', message }) };
    const before = logger.lines.length;
    emit({ kind: 'scaling-ended', cluster, scaling: scalingOf(direction, phase), now: 1_000 });
    return logger.lines.slice(before).find((line) => line.fields.resource === key)?.level;
  };

  it('a failure is one error line until it changes', () => {
    expect([end('x'), end('x'), end('x')]).toEqual(['error', 'debug', 'debug']);
    expect([end('y'), end('y'), end('x')]).toEqual(['error', 'debug', 'error']);
    expect([end('x', 'up'), end('x', 'up'), end('x', 'down')]).toEqual(['error', 'debug', 'error']);
    expect([end(undefined), end('x')]).toEqual([undefined, 'error']);
  });

  it('a failure of another shoot is reported separately; each is counted, and forgotten with its shoot', () => {
    const operations = (result: string) =>
      meter.value('dwd_prober_scale_operations_total', { namespace: 'a', direction: 'down', result });
    expect([end('x'), end('x', 'down', 'b'), end('x')]).toEqual(['error', 'error', 'debug']);
    expect([end(undefined), operations('failed'), operations('scaled')]).toEqual([undefined, 2, 1]);
    emit({ kind: 'forgotten', cluster: 'a' });
    expect([operations('failed'), end('x'), end('x', 'down', 'b')]).toEqual([undefined, 'error', 'debug']);
  });
});

it('resources are shown as held since the time in their annotations, else since they were first seen held', async () => {
  const held = (name: string, since?: string) => ({ kind: 'Deployment', name, replicas: 1, since });
  const show = async (...given: readonly ReturnType<typeof held>[]) => {
    step('a', { held: given });
    return scrape('dwd_prober_held_since_timestamp_seconds', { namespace: 'a' });
  };
  const first = clock.now() / 1_000;
  expect(await show(held('kcm'))).toBe(first);
  expect(await show(held('kcm'), held('mcm', '2020-01-01T00:00:00Z'))).toBe(Date.UTC(2020, 0, 1) / 1_000);
  expect(await show()).toBeUndefined();
  expect(await show(held('kcm'))).toBe(first + 3);
});

describe('reports about the requests of a scaling', () => {
  const base = stateOf(objectOf(kcm, { replicas: 0 }));
  const scaling = scalingOf('up', { kind: 'deciding' });
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
    emit({ kind: 'response-received', cluster: 'a', scaling, action, outcome, now: 0 });
    expect(logger.lines.map((line) => line.level)).toEqual([level]);
    expect(JSON.stringify(logger.lines[0])).toContain('"no"');
  });

  it("another writer's undone change is reported with the writer: log, metric and Event", () => {
    const held = stateOf(objectOf(kcm, { replicas: 2 }));
    const action = {
      kind: 'write',
      key,
      write: { base: held, kind: 'object', replicas: 0, undoes: 'kubectl-scale' },
    } as const;
    const answer = { scaling: scalingOf('down', { kind: 'deciding' }), action, now: 0, ref: kcm } as const;
    const outcome = { key, result: { ok: true, value: base } } as const;
    const labels = { namespace: 'a', resource: key, manager: 'kubectl-scale' };
    const counts = [false, true].map((dryRun) => {
      const counter = createRecordingMeter();
      observeAll({ meter: counter, dryRun })({ kind: 'response-received', cluster: 'a', ...answer, outcome });
      return counter.value('dwd_prober_foreign_changes_undone_total', labels);
    });
    expect(logger.lines.filter(({ fields }) => fields.manager === 'kubectl-scale')).toMatchObject([
      { level: 'warn', message: "undone another writer's change of replicas", fields: { resource: key, replicas: 2 } },
      { level: 'warn', message: "would have undone another writer's change of replicas" },
    ]);
    expect(counts).toEqual([1, undefined]);
    expect(recorded.map(({ reason }) => reason)).toEqual([
      'MeltdownProtectionForeignChange',
      'MeltdownProtectionScaledDown',
    ]);
    expect(recorded[0]?.message).toContain('Undid kubectl-scale, who had set replicas to 2: 3/5 node leases expired');
    expect(recorded[0]?.message).toContain('dependency-watchdog.gardener.cloud/ignore-scaling=true');
  });

  it('a stored number of replicas that cannot be read is shortened in the log', () => {
    const action = { ...write, write: { ...write.write, unreadable: '9'.repeat(200_000) } };
    const outcome = { key, result: { ok: true, value: base } } as const;
    emit({ kind: 'response-received', cluster: 'a', scaling, action, outcome, now: 0 });
    expect(logger.lines[0]).toMatchObject({ level: 'error', fields: { stored: `${'9'.repeat(100)}...` } });
  });
});
