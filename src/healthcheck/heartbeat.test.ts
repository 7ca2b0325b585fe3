import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { withFaults } from '../../simulator/network/faults.ts';
import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';
import { type RecordingLogger, createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import type { Counter } from '../ports/meter.ts';
import { Heartbeat } from './heartbeat.ts';

const at = { namespace: 'extension-local', name: 'gardener-extension-heartbeat' };
type Rule = NonNullable<Parameters<typeof withFaults>[1]['rule']>;

let clock: VirtualClock;
let api: ReturnType<typeof createSimApiServer>;
let logger: RecordingLogger;
let rule: Rule | undefined;
let attempts: unknown[];
let heartbeat: Heartbeat;
let stop: AbortController;
let running: Promise<void>;

const start = (): void => {
  const kube = withFaults(api, { clock, rule: (request) => rule?.(request) });
  const inc: Counter['inc'] = (labels) => void attempts.push(labels?.outcome);
  const metrics = { heartbeats: { inc, remove: () => undefined } };
  const deps = { clock, logger, seed: createKubeClient({ kube, clock }), metrics };
  const { namespace } = at;
  heartbeat = new Heartbeat({ ...deps, namespace, extensionName: 'provider-local', renewIntervalMs: 30_000 });
  running = heartbeat.run(stop.signal);
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
    await clock.advance(119_000);
    expect([ageMs(), attempts.length]).toEqual([29_000, 4]);
    await clock.advance(1_000);
    expect([ageMs(), attempts.length]).toEqual([0, 5]);
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
    expect(attempts).toEqual(['renewed', ...Array.from({ length: 7 }, () => 'failed')]);
    expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the heartbeat could not be renewed',
    ]);
    expect(heartbeat.check()).toMatchObject({ ok: false, detail: expect.stringContaining('etcd is away') as unknown });
    rule = undefined;
    await clock.advance(5_000);
    expect([ageMs() < 5_000, logger.lines.at(-1)?.message]).toEqual([true, 'the heartbeat is renewed again']);
    expect(heartbeat.check().ok).toBe(true);
  });
});
