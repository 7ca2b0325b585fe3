import { beforeEach, expect, it } from 'vitest';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../test/doubles/recording-meter.ts';
import { type ScriptedClient, createScriptedClient } from '../../test/doubles/scripted-client.ts';
import { SimulatedProcess } from '../../simulator/harness/simulated-process.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { createEventRecorder } from './event-recorder.ts';
import type { EventRecorder } from './events.ts';

let clock: VirtualClock;
let client: ScriptedClient;
let logger: RecordingLogger;
let recorder: EventRecorder;
let process: SimulatedProcess;
beforeEach(() => {
  clock = createVirtualClock();
  process = new SimulatedProcess(clock);
  client = createScriptedClient(clock);
  logger = createRecordingLogger();
  const random = createSeededRandom('events');
  recorder = createEventRecorder({
    client,
    clock: process.clock,
    random,
    logger,
    meter: createRecordingMeter(),
    component: 'test',
  });
});

const record = async (namespace: string): Promise<void> => {
  const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'kcm' };
  recorder.record({ regarding, type: 'Warning', reason: 'ScaledDown', message: 'from 1 to 0' });
  await clock.settle();
};

const refuse = async (message: string): Promise<void> => {
  client.waiting[0]!.fail(new ApiError({ code: 'Forbidden', status: 403, message }));
  await clock.settle();
};

const refused = 'the namespace refuses Events: they are left out, and tried again later';

/** Messages of a kube-apiserver (plugin/pkg/admission/namespace/lifecycle; RBAC). */
const terminating =
  'events "kcm.1" is forbidden: unable to create new content in namespace a because it is being terminated';
const noRight = 'events is forbidden: User "dwd" cannot create resource "events" in API group "" in the namespace "a"';

it.each(['first', 'later'])('a namespace that is being deleted is not taken for a missing right: %s', async (when) => {
  if (when === 'later') {
    await record('b');
    client.waiting[0]!.answer({});
    await clock.settle();
  }
  const before = client.calls.length;
  for (let count = 0; count < 3; count += 1) {
    await record('a');
    await refuse(terminating);
  }
  expect(logger.at('warn')).toEqual([]);
  await record('b');
  expect(client.calls.slice(before).map(({ call }) => call.path.split('/')[4])).toEqual(['a', 'a', 'a', 'b']);
});

/** Namespaces of the calls so far, in order. */
const asked = (): readonly string[] => client.calls.map(({ call }) => call.path.split('/')[4] ?? '');

it('leaves out the Events of a namespace that refuses them, and of no other', async () => {
  await record('a');
  await refuse(terminating);
  await record('a');
  await record('a');
  await refuse(noRight);
  await record('a');
  await record('b');
  client.waiting[0]!.answer({});
  await record('b');
  expect(asked()).toEqual(['a', 'a', 'b', 'b']);
  const problem = expect.stringContaining('in the namespace "a"') as string;
  expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([
    { level: 'warn', message: refused, fields: { namespace: 'a', problem } },
  ]);
});

it('tries a namespace that refuses Events again after 10, 20, 40 and 60 minutes, and names it once', async () => {
  const times: number[] = [];
  for (let minute = 0; minute < 250; minute += 1) {
    await record('a');
    if (client.waiting.length > 0) {
      times.push(minute);
      await refuse(noRight);
    }
    await clock.advance(60_000);
  }
  expect(times).toEqual([0, 10, 30, 70, 130, 190]);
  expect(logger.at('warn')).toEqual([refused]);
});

it('writes Events again once the namespace takes them, and names it again when it refuses the next', async () => {
  await record('a');
  await refuse(noRight);
  await clock.advance(600_000);
  await record('a');
  client.waiting[0]!.answer({});
  await record('a');
  await refuse(noRight);
  expect(asked()).toEqual(['a', 'a', 'a']);
  await clock.advance(600_000);
  await record('a');
  expect(asked()).toHaveLength(4);
  expect(logger.at('warn')).toEqual([refused, refused]);
});

it('costs one request per namespace where no namespace takes Events, and warns of the first', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `ns-${String(index)}`);
  for (const name of [...names, ...names]) {
    const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: name, name: 'kcm' };
    recorder.record({ regarding, type: 'Warning', reason: 'ScaledDown', message: 'from 1 to 0' });
  }
  while (client.waiting.length > 0) await refuse(noRight);
  for (const name of names) await record(name);
  expect(asked()).toEqual(names);
  expect([logger.at('warn'), logger.at('info').length]).toEqual([[refused], 299]);
});

it('remembers the refusals of 10,000 namespaces, and forgets the oldest', async () => {
  for (let index = 0; index <= 10_000; index += 1) {
    await record(`ns-${String(index)}`);
    await refuse(noRight);
  }
  for (const name of ['ns-1', 'ns-10000', 'ns-0']) await record(name);
  expect(asked().slice(10_000)).toEqual(['ns-10000', 'ns-0']);
});

it('an Event waits while the process is short of CPU', async () => {
  await record('a');
  for (let turn = 0; turn < 4; turn += 1) {
    process.suspend();
    await clock.advance(100);
    await process.resume();
  }
  client.waiting[0]!.answer({});
  await record('b');
  expect(client.calls).toHaveLength(1);
  await clock.advance(2_000);
  expect(client.calls).toHaveLength(2);
});

it('rule 31: the message of an Event, which kubectl prints unescaped, cannot control a terminal', async () => {
  const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a', name: 'kcm' };
  recorder.record({ regarding, type: 'Warning', reason: 'ScaledDown', message: 'by \u001b[2J\u009b\u202e\nus' });
  await clock.settle();
  expect(client.calls[0]!.call.body).toMatchObject({ message: 'by \\u001b[2J\\u009b\\u202e\nus' });
});
