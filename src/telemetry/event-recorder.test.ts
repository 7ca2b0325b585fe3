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

it('a missing right is recognised after a namespace that is being deleted, and is logged once', async () => {
  await record('a');
  await refuse(terminating);
  await record('a');
  await record('b');
  await refuse(noRight);
  await record('c');
  expect(client.calls).toHaveLength(2);
  expect(logger.at('warn')).toEqual(['no right to write Events in shoot namespaces: they are left out']);
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
