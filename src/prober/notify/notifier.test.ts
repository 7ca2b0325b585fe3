import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { type RecordingMeter, createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import type { PostResult, PostWebhook } from '../../process/index.ts';
import type { StateChange } from '../status/status-recorder.ts';
import type { ProbedShoot, ProtectionState } from '../status/schema.ts';
import { createNotifyMetrics } from './metrics.ts';
import type { Notification } from './notification.ts';
import { Notifier } from './notifier.ts';
import { renderJson } from './template.ts';

const secret = 'https://hooks.example/T00/s3cr3t';

let clock: VirtualClock;
let logger: RecordingLogger;
let meter: RecordingMeter;
let leads: boolean;
let posted: Notification[];
/** Response to each POST. */
let answer: (signal: AbortSignal) => PostResult | Promise<PostResult>;
let url: () => Promise<string>;
let notifier: Notifier;
beforeEach(() => {
  clock = createVirtualClock();
  logger = createRecordingLogger();
  meter = createRecordingMeter();
  leads = true;
  posted = [];
  answer = () => ({ kind: 'answered', status: 200 });
  url = async () => secret;
  const post: PostWebhook = async (request) => {
    expect(request.url).toBe(secret);
    posted.push(JSON.parse(request.body) as Notification);
    return answer(request.signal);
  };
  const metrics = createNotifyMetrics(meter);
  const given = { clock, logger, metrics, post, leads: () => leads, url: () => url() };
  notifier = new Notifier({ ...given, render: renderJson });
});

const change = (
  state: ProtectionState,
  before: ProtectionState | undefined = 'healthy',
  name = 'one',
): StateChange => ({
  before,
  shoot: {
    namespace: `shoot--dev--${name}`,
    project: 'dev',
    name,
    state,
    reason: '12/12 leases expired \u001b[2J',
    next: { text: 'held' },
    held: [{ kind: 'Deployment', name: 'kcm', replicas: 2 }],
  } as unknown as ProbedShoot,
});
const counted = (result: string): number | undefined => meter.value('dwd_prober_notifications_total', { result });
const states = (): readonly ProtectionState[] => posted.map(({ state }) => state);

/** A receiver that never responds. */
const hang = (signal: AbortSignal): Promise<PostResult> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve({ kind: 'failed', code: 'no answer in time' })),
  );

describe('a notification', () => {
  it('is one POST per change of state, with the known facts about the shoot', async () => {
    notifier.changed(change('protected'));
    await clock.settle();
    expect(posted).toEqual([
      {
        schemaVersion: 1,
        kind: 'ShootStateChanged',
        id: `shoot--dev--one/protected/${new Date(clock.now()).toISOString()}`,
        at: new Date(clock.now()).toISOString(),
        namespace: 'shoot--dev--one',
        project: 'dev',
        name: 'one',
        before: 'healthy',
        state: 'protected',
        reason: '12/12 leases expired \\u001b[2J',
        next: 'held',
        held: [{ kind: 'Deployment', name: 'kcm', replicas: 2 }],
      },
    ]);
    expect(counted('sent')).toBe(1);
  });

  it('is not sent for a shoot that is seen for the first time, or turns out to be healthy', async () => {
    notifier.changed({ ...change('unknown'), before: undefined });
    notifier.changed(change('healthy', 'unknown'));
    await clock.settle();
    expect(posted).toEqual([]);
    notifier.changed(change('protected', 'unknown'));
    await clock.settle();
    expect(states()).toEqual(['protected']);
  });

  it('is sent after earlier ones, however slow the receiver is', async () => {
    answer = async (signal) => {
      await clock.sleep(5_000, signal);
      return { kind: 'answered', status: 204 };
    };
    for (const state of ['protected', 'restoring', 'healthy'] as const) notifier.changed(change(state));
    await clock.advance(4_999);
    expect(states()).toEqual(['protected']);
    await clock.advance(10_001);
    expect(states()).toEqual(['protected', 'restoring', 'healthy']);
    expect(counted('sent')).toBe(3);
  });
});

describe('a receiver', () => {
  it.each<{ what: string; result: PostResult; at: readonly number[] }>([
    { what: 'responds with 500', result: { kind: 'answered', status: 500 }, at: [0, 1, 3, 7, 15] },
    { what: 'refuses connections', result: { kind: 'failed', code: 'ECONNREFUSED' }, at: [0, 1, 3, 7, 15] },
    {
      what: 'responds with 429 and a Retry-After of 5 s',
      result: { kind: 'answered', status: 429, retryAfterMs: 5_000 },
      at: [0, 5, 10, 15, 23],
    },
    {
      what: 'responds with 503 and a Retry-After of hours',
      result: { kind: 'answered', status: 503, retryAfterMs: 9e6 },
      at: [0, 60, 120, 180, 240],
    },
    { what: 'responds with 404', result: { kind: 'answered', status: 404 }, at: [0] },
    { what: 'redirects', result: { kind: 'answered', status: 302 }, at: [0] },
  ])('that $what is tried at these seconds: $at', async ({ result, at }) => {
    const began = clock.monotonic();
    const tried: number[] = [];
    answer = () => {
      tried.push((clock.monotonic() - began) / 1_000);
      return result;
    };
    notifier.changed(change('protected'));
    await clock.advance(600_000);
    expect(tried).toEqual(at);
    expect([counted('failed'), counted('sent')]).toEqual([1, undefined]);
    expect(logger.at('warn')).toEqual(['a notification was not taken']);
  });

  it('that never responds times out after ten seconds per attempt, and then gets the next notification', async () => {
    answer = hang;
    notifier.changed(change('protected'));
    notifier.changed(change('healthy', 'protected'));
    await clock.advance(64_000);
    expect(states()).toEqual(Array.from({ length: 5 }, () => 'protected'));
    await clock.advance(2_000);
    expect(states()).toHaveLength(6);
    answer = () => ({ kind: 'answered', status: 200 });
    await clock.advance(15_000);
    expect(counted('sent')).toBe(1);
  });

  it('that recovers gets the waiting notifications, without the oldest if more than a thousand waited', async () => {
    answer = hang;
    for (let index = 0; index <= 1_010; index += 1) {
      notifier.changed(change('protected', 'healthy', `shoot-${String(index)}`));
    }
    await clock.settle();
    expect(meter.value('dwd_prober_notifications_waiting')).toBe(1_000);
    expect(counted('dropped')).toBe(10);
    answer = () => ({ kind: 'answered', status: 200 });
    await clock.advance(20_000);
    expect(counted('sent')).toBe(1_001);
    expect(posted.at(-1)?.name).toBe('shoot-1010');
    expect(meter.value('dwd_prober_notifications_waiting')).toBe(0);
  });

  it('has its URL in no line of the log, even if the URL cannot be read', async () => {
    answer = () => ({ kind: 'answered', status: 500 });
    notifier.changed(change('protected'));
    await clock.advance(60_000);
    url = () => Promise.reject(Object.assign(new Error(`cannot read ${secret}`), { code: 'ENOENT' }));
    notifier.changed(change('healthy', 'protected'));
    await clock.advance(60_000);
    expect(logger.lines.length).toBeGreaterThan(5);
    expect(JSON.stringify(logger.lines)).not.toMatch(/hooks|s3cr3t/);
    expect(logger.lines.at(-1)?.fields.problem).toBe('the URL cannot be read: ENOENT');
  });
});

describe('a standby', () => {
  beforeEach(() => {
    leads = false;
  });

  it('sends nothing until it leads, and then the latest change of each shoot in the last half minute', async () => {
    notifier.changed(change('protected', 'healthy', 'old'));
    await clock.advance(31_000);
    notifier.changed(change('confirming'));
    notifier.changed(change('protected', 'confirming'));
    await clock.advance(29_000);
    expect(posted).toEqual([]);
    leads = true;
    notifier.led();
    notifier.led();
    await clock.settle();
    expect(posted.map(({ name, state }) => `${name} ${state}`)).toEqual(['one protected']);
  });
});

it('stops with the prober, and leaves no timer behind', async () => {
  answer = hang;
  notifier.changed(change('protected'));
  notifier.changed(change('healthy', 'protected'));
  await clock.settle();
  notifier.stop();
  notifier.changed(change('protected'));
  await clock.settle();
  expect(clock.pending).toBe(0);
  expect(posted).toHaveLength(1);
});
