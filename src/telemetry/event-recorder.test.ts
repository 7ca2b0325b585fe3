import { beforeEach, expect, it } from 'vitest';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { type RecordingMeter, createRecordingMeter } from '../../test/doubles/recording-meter.ts';
import { type ScriptedClient, createScriptedClient } from '../../test/doubles/scripted-client.ts';
import { ApiError, type ApiErrorCode } from '../kubernetes/api/errors.ts';
import { createEventRecorder } from './event-recorder.ts';

let clock: VirtualClock;
let client: ScriptedClient;
let logger: RecordingLogger;
let meter: RecordingMeter;
let recorder: ReturnType<typeof createEventRecorder>;
beforeEach(() => {
  clock = createVirtualClock();
  client = createScriptedClient(clock);
  logger = createRecordingLogger();
  meter = createRecordingMeter();
  const random = createSeededRandom('events');
  recorder = createEventRecorder({ client, clock, random, logger, meter, component: 'test' });
});

const record = async (namespace: string, name = 'kcm'): Promise<void> => {
  const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name };
  recorder.record({ regarding, type: 'Warning', reason: 'ScaledDown', message: 'from 1 to 0' });
  await clock.settle();
};

const write = async (): Promise<void> => {
  client.waiting[0]!.answer({});
  await clock.settle();
};

const fail = async (code: ApiErrorCode, message: string = code): Promise<void> => {
  client.waiting[0]!.fail(new ApiError({ code, message }));
  await clock.settle();
};

/** Namespaces of the calls so far, in order. */
const asked = (): readonly string[] => client.calls.map(({ call }) => call.path.split('/')[4] ?? '');
const dropped = (): number => meter.value('dwd_events_dropped_total') ?? 0;

const refused = 'the namespace refuses Events: they are left out, and tried again later';
/** Messages of a kube-apiserver (plugin/pkg/admission/namespace/lifecycle; RBAC). */
const terminating =
  'events "kcm.1" is forbidden: unable to create new content in namespace a because it is being terminated';
const noRight = 'events is forbidden: User "dwd" cannot create resource "events" in API group "" in the namespace "a"';

it('writes one Event after the other, with ordinary priority, each with the time of its occurrence', async () => {
  const first = clock.now();
  await record('a');
  await clock.advance(5_000);
  for (const namespace of ['b', 'c']) await record(namespace);
  for (const count of [1, 2, 3]) {
    expect([client.calls.length, client.waiting.length]).toEqual([count, 1]);
    await write();
  }
  expect(asked()).toEqual(['a', 'b', 'c']);
  const times = client.calls.map(({ call }) =>
    Date.parse((call.body as { readonly firstTimestamp: string }).firstTimestamp),
  );
  expect(times).toEqual([0, 5_000, 5_000].map((ms) => Math.floor((first + ms) / 1_000) * 1_000));
  for (const { options, call } of client.calls) expect([options.priority, call.repeatable]).toEqual([undefined, true]);
});

it('drops and counts Events that are recorded while 5,000 wait', async () => {
  for (let count = 0; count < 5_002; count += 1) await record('a');
  // One Event is in flight.
  expect(dropped()).toBe(1);
  while (client.waiting.length > 0) await write();
  expect(client.calls).toHaveLength(5_001);
});

it('flushes until all Events are written or dropped, at most until the timeout', async () => {
  await recorder.flush(1_000);
  const flushed: string[] = [];
  for (const namespace of ['a', 'b']) await record(namespace);
  void recorder.flush(1_000).then(() => flushed.push('out of time'));
  await clock.advance(999);
  expect(flushed).toEqual([]);
  await clock.advance(1);
  expect(flushed).toEqual(['out of time']);
  void recorder.flush(1_000).then(() => flushed.push('written'));
  await write();
  expect(flushed).toEqual(['out of time']);
  await fail('Invalid');
  expect(flushed).toEqual(['out of time', 'written']);
  expect(clock.pending).toBe(0);
});

it.each(['Timeout', 'ConnectionError', 'TooManyRequests', 'ServerError'] as const)(
  'retries after %s, ten seconds later: an exhausted rate limit must not empty the queue',
  async (code) => {
    for (const namespace of ['a', 'b']) await record(namespace);
    for (const attempt of [1, 2, 3]) {
      expect([client.calls.length, dropped()]).toEqual([attempt, 0]);
      await fail(code);
      if (attempt < 3) await clock.advance(10_000);
    }
    expect([asked(), dropped()]).toEqual([['a', 'a', 'a', 'b'], 1]);
  },
);

it.each(['Invalid', 'NotFound', 'Rejected'] as const)('drops an Event at once if it fails with %s', async (code) => {
  await record('a');
  await fail(code);
  await clock.advance(600_000);
  expect([client.calls.length, dropped()]).toEqual([1, 1]);
});

it('treats an Event that already exists as written: the response was lost', async () => {
  await record('a');
  await fail('ConnectionError');
  await clock.advance(10_000);
  await fail('AlreadyExists');
  expect(client.calls[0]?.call.body).toEqual(client.calls[1]?.call.body);
  expect(dropped()).toBe(0);
});

it('ends at once when stopped, even while it waits for a retry', async () => {
  for (const namespace of ['a', 'b']) await record(namespace);
  await fail('Timeout');
  recorder.stop();
  await record('c');
  await clock.advance(600_000);
  expect([client.calls.length, clock.pending, logger.lines]).toEqual([1, 0, []]);
});

it('leaves out the Events of a namespace that refuses them, and of no other, and counts none as dropped', async () => {
  for (const namespace of ['a', 'a', 'b', 'a']) await record(namespace);
  await fail('Forbidden', noRight);
  await write();
  await record('a');
  expect([asked(), dropped()]).toEqual([['a', 'b'], 0]);
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: refused,
      fields: { namespace: 'a', problem: expect.stringContaining(noRight) as string },
    },
  ]);
});

it('does not take a namespace that is being deleted for one that refuses Events', async () => {
  for (let count = 0; count < 3; count += 1) {
    await record('a');
    await fail('Forbidden', terminating);
  }
  expect([asked(), logger.at('warn')]).toEqual([['a', 'a', 'a'], []]);
});

it('tries a namespace that refuses Events again every ten minutes, and names it anew only after a success', async () => {
  const attempt = async (minutes: number): Promise<void> => {
    await clock.advance((minutes - 1) * 60_000);
    await record('a');
    expect(client.waiting).toHaveLength(0);
    await clock.advance(60_000);
    await record('a');
  };
  await record('a');
  for (let count = 0; count < 3; count += 1) {
    await fail('Forbidden', noRight);
    await attempt(10);
  }
  expect(logger.at('warn')).toEqual([refused]);
  await write();
  await record('a');
  await fail('Forbidden', noRight);
  expect(logger.at('warn')).toEqual([refused, refused]);
});

it('rule 31: the message of an Event, which kubectl prints unescaped, cannot control a terminal', async () => {
  const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a', name: 'kcm' };
  recorder.record({ regarding, type: 'Warning', reason: 'ScaledDown', message: 'by \u001b[2J\u009b\u202e\nus' });
  await clock.settle();
  expect(client.calls[0]!.call.body).toMatchObject({ message: 'by \\u001b[2J\\u009b\\u202e\nus' });
});
