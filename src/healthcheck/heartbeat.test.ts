import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { withFaults } from '../../simulator/network/faults.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import { renewHeartbeat } from './heartbeat.ts';

const at = { namespace: 'extension-local', name: 'gardener-extension-heartbeat' };
type Rule = NonNullable<Parameters<typeof withFaults>[1]['rule']>;

let clock: VirtualClock;
let api: ReturnType<typeof createSimApiServer>;
let logger: RecordingLogger;
let rule: Rule | undefined;
let attempts: (string | undefined)[];
let stop: AbortController;
let running: Promise<void>;

const start = (renewIntervalMs?: number): void => {
  const kube = withFaults(api, { clock, rule: (request) => rule?.(request) });
  const interval = renewIntervalMs === undefined ? {} : { renewIntervalMs };
  running = renewHeartbeat(
    {
      ...{ clock, logger, seed: createKubeClient({ kube, clock }), extensionName: 'provider-local', ...interval },
      namespace: at.namespace,
      onAttempt: (error) => attempts.push(error?.code),
    },
    stop.signal,
  );
};
const spec = () => api.store.get(simKinds.Lease, at)?.spec as { readonly renewTime: string } | undefined;
const ageMs = (): number => clock.now() - Date.parse(spec()?.renewTime ?? '');

beforeEach(() => {
  clock = createVirtualClock();
  api = createSimApiServer({ clock });
  api.store.put(simKinds.Namespace, { metadata: { name: at.namespace } });
  logger = createRecordingLogger();
  rule = undefined;
  attempts = [];
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort(new Error('stopped'));
  await clock.run(running);
  expect(clock.pending).toBe(0);
});

describe('the heartbeat', () => {
  it('is a Lease as gardener writes it, renewed every 30 s', async () => {
    start();
    await clock.advance(0);
    expect(spec()).toEqual({
      holderIdentity: 'provider-local',
      leaseDurationSeconds: 30,
      renewTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    });
    for (let seconds = 1; seconds <= 120; seconds += 1) {
      await clock.advance(1_000);
      expect(ageMs()).toBe((seconds % 30) * 1_000);
    }
    expect(attempts).toHaveLength(5);
  });

  it('takes over the Lease of a former version', async () => {
    api.store.put(simKinds.Lease, {
      metadata: { ...at, labels: { keep: 'me' } },
      spec: { holderIdentity: 'old', leaseDurationSeconds: 10, renewTime: '2020-01-01T00:00:00.000000Z' },
    });
    start(10_000);
    await clock.advance(0);
    expect(spec()).toMatchObject({ holderIdentity: 'provider-local', leaseDurationSeconds: 10 });
    expect([ageMs(), api.store.get(simKinds.Lease, at)?.metadata.labels]).toEqual([0, { keep: 'me' }]);
  });

  it('is created again when somebody deletes it', async () => {
    start();
    await clock.advance(10_000);
    api.store.remove(simKinds.Lease, at);
    await clock.advance(20_000);
    expect(ageMs()).toBe(0);
  });

  it('is retried soon after a failure, and a lasting failure is logged once', async () => {
    start();
    await clock.advance(0);
    rule = () => ({ status: 500, message: 'etcd is away' });
    await clock.advance(61_000);
    // Attempts fail at 30 s, and every 5 s from then on.
    expect(attempts).toEqual([undefined, ...Array.from({ length: 7 }, () => 'ServerError')]);
    expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the heartbeat could not be renewed',
    ]);
    rule = undefined;
    await clock.advance(5_000);
    expect([ageMs() < 5_000, logger.lines.at(-1)?.message]).toEqual([true, 'the heartbeat is renewed again']);
  });
});

it.each([
  [{ namespace: '' }, 'heartbeat: namespace must not be empty'],
  [{ extensionName: '' }, 'heartbeat: extensionName must not be empty'],
  [{ renewIntervalMs: 0 }, 'heartbeat: renewIntervalMs must be greater than 0, is 0'],
])('a heartbeat with %j is refused', async (options, problem) => {
  running = Promise.resolve();
  const seed = createKubeClient({ kube: api, clock });
  const whole = { clock, logger, seed, namespace: 'x', extensionName: 'y', ...options };
  await expect(renewHeartbeat(whole, stop.signal)).rejects.toThrow(new RangeError(problem));
});
