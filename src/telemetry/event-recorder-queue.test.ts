import { expect, it } from 'vitest';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { CallResult, Call } from '../kubernetes/api/call.ts';
import { ApiError, type ApiErrorCode } from '../kubernetes/api/errors.ts';
import type { CallOptions } from '../kubernetes/api/kube.ts';
import { type RunningEventRecorder, createEventRecorder } from './event-recorder.ts';
import { createMeter } from './meter.ts';

interface Sent {
  readonly call: Call<unknown>;
  readonly options: CallOptions;
  succeed(): void;
  fail(code: ApiErrorCode, message?: string): void;
}

interface Setup {
  readonly recorder: RunningEventRecorder;
  readonly clock: VirtualClock;
  /** All calls so far. */
  readonly sent: readonly Sent[];
  /** Calls that wait for their response, oldest first. */
  readonly open: readonly Sent[];
  readonly logger: ReturnType<typeof createRecordingLogger>;
  readonly record: (count: number) => void;
  /** Responds to calls until none is sent any more. */
  readonly answerAll: (answer: (call: Sent) => void) => Promise<void>;
  readonly dropped: () => Promise<number>;
}

const setUp = (): Setup => {
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const meter = createMeter({ processMetrics: false });
  const sent: Sent[] = [];
  const open: Sent[] = [];
  const call = <T>(wanted: Call<T>, options: CallOptions): Promise<CallResult<T>> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        const index = open.indexOf(entry);
        if (index >= 0) open.splice(index, 1);
      };
      const entry: Sent = {
        call: wanted,
        options,
        succeed: () => {
          leave();
          resolve({ value: wanted.decode({}), sentAt: 0, receivedAt: 0 });
        },
        fail: (code, message = code) => {
          leave();
          reject(new ApiError({ code, message }));
        },
      };
      options.signal.addEventListener('abort', () => {
        leave();
        reject(options.signal.reason as Error);
      });
      sent.push(entry);
      open.push(entry);
    });
  const recorder = createEventRecorder({
    client: { call },
    clock,
    random: createSeededRandom(0),
    logger,
    meter,
    component: 'test',
  });
  let recorded = 0;
  return {
    recorder,
    clock,
    sent,
    open,
    logger,
    record: (count) => {
      for (let index = 0; index < count; index += 1) {
        recorded += 1;
        const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: `pod-${String(recorded)}` };
        recorder.record({ regarding, type: 'Normal', reason: 'Test', message: 'm' });
      }
    },
    answerAll: async (answer) => {
      while (open.length > 0) {
        for (const entry of [...open]) answer(entry);
        await clock.settle();
      }
    },
    dropped: async () => {
      const value = /^dwd_events_dropped_total (\d+)$/m.exec(await meter.metricsText())?.[1];
      return Number(value);
    },
  };
};

const bodyOf = ({ call }: Sent) => call.body as { metadata: { name: string }; firstTimestamp: string };
const podOf = (sent: Sent): string => bodyOf(sent).metadata.name.split('.')[0] ?? '';

it('sends a single Event until one is written, then keeps four in flight, with ordinary priority', async () => {
  const { record, open, sent, clock } = setUp();
  record(20);
  expect(open).toHaveLength(1);
  open[0]?.succeed();
  await clock.settle();
  expect(open).toHaveLength(4);
  open[2]?.succeed();
  await clock.settle();
  expect(open).toHaveLength(4);
  expect(sent.map(podOf)).toEqual(['pod-1', 'pod-2', 'pod-3', 'pod-4', 'pod-5', 'pod-6']);
  for (const { options, call } of sent) {
    expect(options.priority).toBeUndefined();
    expect(call.repeatable).toBe(true);
  }
});

it('writes all Events of a mass outage, each with the time of its occurrence', async () => {
  const { record, sent, clock, answerAll, dropped } = setUp();
  record(1);
  const first = new Date(clock.now()).toISOString();
  await clock.advance(5_000);
  record(4_999);
  await clock.advance(5_000);
  await answerAll((entry) => entry.succeed());
  expect(sent).toHaveLength(5_000);
  expect(new Set(sent.map(podOf)).size).toBe(5_000);
  const times = new Set(sent.map((entry) => Date.parse(bodyOf(entry).firstTimestamp)));
  expect([...times]).toEqual(
    [Date.parse(first), Date.parse(first) + 5_000].map((ms) => Math.floor(ms / 1_000) * 1_000),
  );
  expect(await dropped()).toBe(0);
});

it('flushes until all Events are written or dropped, at most until the timeout', async () => {
  const { recorder, record, open, clock } = setUp();
  await recorder.flush(1_000);
  const flushed: string[] = [];
  record(2);
  void recorder.flush(1_000).then(() => flushed.push('out of time'));
  await clock.advance(999);
  expect(flushed).toEqual([]);
  await clock.advance(1);
  expect(flushed).toEqual(['out of time']);
  void recorder.flush(1_000).then(() => flushed.push('written'));
  open[0]?.succeed();
  await clock.settle();
  expect(flushed).toEqual(['out of time']);
  open[0]?.fail('Forbidden');
  await clock.settle();
  expect(flushed).toEqual(['out of time', 'written']);
});

it('drops and counts Events that are recorded while its queue is full', async () => {
  const { record, sent, answerAll, dropped } = setUp();
  record(6_001);
  await answerAll((entry) => entry.succeed());
  // One Event was in flight when the queue was full.
  expect(sent).toHaveLength(5_001);
  expect(await dropped()).toBe(1_000);
  record(1);
  expect(sent).toHaveLength(5_002);
});

it.each(['Timeout', 'ConnectionError', 'TooManyRequests', 'ServerError'] as const)(
  'retries after %s, but not at once: an exhausted rate limit must not empty the queue',
  async (code) => {
    const { record, sent, open, clock, answerAll, dropped } = setUp();
    record(1);
    await answerAll((entry) => entry.succeed());
    record(10);
    await answerAll((entry) => entry.fail(code));
    expect(sent).toHaveLength(1 + 4);
    await clock.advance(10_000);
    expect(open.map(podOf)).toEqual(['pod-2', 'pod-3', 'pod-4', 'pod-5']);
    await answerAll((entry) => entry.fail(code));
    await clock.advance(10_000);
    expect(await dropped()).toBe(0);
    await answerAll((entry) => entry.fail(code));
    expect(await dropped()).toBe(4);
    await clock.advance(600_000);
    await answerAll((entry) => entry.succeed());
    expect(new Set(sent.map(podOf)).size).toBe(11);
  },
);

it.each(['Invalid', 'NotFound', 'Rejected'] as const)('drops an Event at once if it fails with %s', async (code) => {
  const { record, sent, answerAll, clock, dropped } = setUp();
  record(3);
  await answerAll((entry) => entry.fail(code));
  await clock.advance(600_000);
  expect(sent).toHaveLength(3);
  expect(await dropped()).toBe(3);
});

it('treats an Event that already exists as written: the response was lost', async () => {
  const { record, open, sent, clock, dropped } = setUp();
  record(1);
  open[0]?.fail('ConnectionError');
  await clock.advance(10_000);
  open[0]?.fail('AlreadyExists');
  await clock.advance(600_000);
  expect(sent).toHaveLength(2);
  expect(sent[0]?.call.body).toEqual(sent[1]?.call.body);
  expect(await dropped()).toBe(0);
});

it('logs a refusal once, although several Events were in flight, and counts none as dropped', async () => {
  const { record, open, sent, clock, logger, answerAll, dropped } = setUp();
  record(20);
  open[0]?.succeed();
  await clock.settle();
  const refuse = (entry: Sent): void => entry.fail('Forbidden', 'events is forbidden: User "dwd" cannot create');
  for (const answer of [refuse, (entry: Sent) => entry.succeed(), refuse]) {
    const [oldest] = open;
    if (oldest !== undefined) answer(oldest);
    await clock.settle();
  }
  await answerAll(refuse);
  record(20);
  await clock.advance(599_000);
  expect(sent).toHaveLength(5);
  expect(logger.at('warn')).toHaveLength(1);
  expect(await dropped()).toBe(0);
});

it('ends at once when stopped, even while it waits for a retry', async () => {
  const { recorder, record, open, sent, clock, logger } = setUp();
  record(10);
  open[0]?.fail('Timeout');
  await clock.advance(1_000);
  recorder.stop();
  record(1);
  await clock.advance(600_000);
  expect(sent).toHaveLength(1);
  expect(clock.pending).toBe(0);
  expect(logger.lines).toEqual([]);
});
