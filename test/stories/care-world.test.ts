import { afterEach, describe, expect, it } from 'vitest';
import { careSeedKinds } from '../../simulator/apiserver/care-kinds.ts';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createServerConnections } from '../../simulator/harness/server-connections.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import type { ShootInit } from '../../simulator/world/objects.ts';
import { createWorld } from '../../simulator/world/world.ts';
import { careConfig } from '../../src/care/config.ts';
import { startCare } from '../../src/care/component.ts';
import { startProber } from '../../src/prober/component.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';
import { createRecordingMeter } from '../doubles/recording-meter.ts';

const second = 1_000;
const minute = 60 * second;
const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts the simulated seed of the demo and the benchmark, and care without a garden and with a period of ten seconds. */
const startWorld = (...shoots: readonly ShootInit[]) => {
  const clock = createVirtualClock();
  const world = createWorld({ clock, shoots, kinds: careSeedKinds });
  const lines = createServerConnections({ world, clock });
  const { settings } = careConfig.load('syncPeriod: 10s', { unknownFields: 'error' });
  if (settings === undefined) throw new Error('not valid');
  const logger = createRecordingLogger();
  const ports = {
    clock,
    random: createSeededRandom(0),
    identity: 'test',
    leadership: { mayWrite: () => true },
    seed: lines.seedTransport,
    connector: lines.connector,
  };
  const tunnels = { connect: async () => undefined };
  const care = startCare({
    settings,
    ports: { ...ports, logger, meter: createRecordingMeter(), garden: undefined, tunnels },
  });
  stops.push(async () => {
    await clock.run(care.stop());
    world.stop();
  });
  const startProbing = (): void => {
    const own = { ...ports, logger: createRecordingLogger(), meter: createRecordingMeter() };
    const prober = startProber({ settings: gardenSettings, ports: own });
    stops.unshift(() => clock.run(prober.stop()));
  };
  /** Latest logged `status reason` of each condition of a shoot, by type. */
  const conditions = (shoot: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      logger.lines
        .filter(({ message, fields }) => message === 'condition changed' && fields.namespace === `shoot--sim--${shoot}`)
        .map(({ fields }) => [String(fields.condition), `${String(fields.status)} ${String(fields.reason)}`]),
    );
  return { clock, world, logger, conditions, startProbing };
};

const well = {
  APIServerAvailable: 'True HealthzRequestSucceeded',
  ControlPlaneHealthy: 'True ControlPlaneRunning',
  ObservabilityComponentsHealthy: 'True ObservabilityComponentsRunning',
  EveryNodeReady: 'True EveryNodeReady',
  SystemComponentsHealthy: 'True SystemComponentsRunning',
};

describe('care in a simulated seed', () => {
  it.each([
    ['with pods', true],
    ['without pods', false],
  ])('finds a running control plane %s healthy', async (_, controlPlanePods) => {
    const { clock, conditions, logger } = startWorld({ name: 'a', controlPlanePods, careObjects: true });
    await clock.advance(30 * minute);
    expect(conditions('a')).toEqual(well);
    expect(logger.lines.filter(({ message }) => message === 'condition changed')).toHaveLength(5);
  });

  it.each([
    [10_000, 40],
    [5_000, 20],
  ])('simulates leases that are renewed every %i ms and expire after %i s', (leaseRenewMs, seconds) => {
    const clock = createVirtualClock();
    const world = createWorld({ clock, shoots: [{ name: 'a', nodes: 2 }], timing: { leaseRenewMs } });
    const leases = world.shoot('a').store.list(simKinds.Lease, 'kube-node-lease');
    expect(leases.map(({ spec }) => spec)).toMatchObject([
      { leaseDurationSeconds: seconds },
      { leaseDurationSeconds: seconds },
    ]);
    world.stop();
  });

  it('reports missing objects of a control plane without objects', async () => {
    const { clock, conditions } = startWorld({ name: 'a' });
    await clock.advance(minute);
    expect(conditions('a')).toMatchObject({ ControlPlaneHealthy: 'False EtcdMissing' });
  });

  it('reports a failing etcd for its control plane, and for no other', async () => {
    const shoot = { controlPlanePods: true, careObjects: true };
    const { clock, world, conditions } = startWorld({ name: 'a', ...shoot }, { name: 'b', ...shoot });
    await clock.advance(minute);
    world.shoot('a').breakEtcd();
    await clock.advance(2 * minute);
    expect(conditions('a')).toMatchObject({
      APIServerAvailable: 'False HealthzRequestFailed',
      ControlPlaneHealthy: 'False EtcdUnhealthy',
      EveryNodeReady: 'Unknown ConditionCheckError',
    });
    world.shoot('a').crash(['kube-scheduler']);
    world.shoot('a').mendEtcd();
    await clock.advance(15 * minute);
    expect(conditions('a')).toEqual({ ...well, ControlPlaneHealthy: 'False DeploymentUnhealthy' });
    world.shoot('a').crash([]);
    await clock.advance(10 * minute);
    expect(conditions('a')).toEqual(well);
    expect(conditions('b')).toEqual(well);
  });

  it('reports the loss of unprotected nodes, and the controllers that the prober holds', async () => {
    const shoot = { controlPlanePods: true, careObjects: true };
    const { clock, world, conditions, startProbing } = startWorld({ name: 'a', ...shoot });
    await clock.advance(minute);
    world.shoot('a').cutKubelets();
    await clock.advance(minute);
    expect(conditions('a')).toMatchObject({ ControlPlaneHealthy: well.ControlPlaneHealthy });
    expect(conditions('a').EveryNodeReady).toBe('False NodeUnhealthy');
    startProbing();
    await clock.advance(2 * minute);
    expect(conditions('a').ControlPlaneHealthy).toBe('False ControllersScaledDown');
  });
});
