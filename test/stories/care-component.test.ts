import { describe, expect, it } from 'vitest';
import { extensionKinds, careSeedKinds as seedKinds } from '../../simulator/apiserver/care-kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { careKinds, gardenKinds } from '../../simulator/harness/care-kinds.ts';
import { createCareShoot, gardenNamespace, observeDeployments } from '../../simulator/harness/care-shoot.ts';
import type { StoredCondition } from '../../simulator/harness/healthcheck-fixture.ts';
import { createMemoryConnector } from '../../simulator/harness/memory-connector.ts';
import { withCounting } from '../../simulator/network/counting.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { careConfig } from '../../src/care/config.ts';
import type { CareSettings } from '../../src/care/config.ts';
import { startCare } from '../../src/care/component.ts';
import type { Leadership } from '../../src/kubernetes/api/leadership.ts';
import type { TunnelConnector } from '../../src/kubernetes/api/tunnel-connection.ts';
import { createRecordingLogger } from '../doubles/recording-logger.ts';
import { createRecordingMeter } from '../doubles/recording-meter.ts';

const settingsOf = (text: string): CareSettings => {
  const { settings } = careConfig.load(text, { unknownFields: 'error' });
  if (settings === undefined) throw new Error('not valid');
  return settings;
};

const unserved = new Set<unknown>([extensionKinds.get('BackupEntry'), extensionKinds.get('Network')]);

interface WorldOptions {
  readonly leadership?: Leadership;
  readonly tunnels?: TunnelConnector;
}

const leads: Leadership = { mayWrite: () => true };
const open: TunnelConnector = { connect: async () => undefined };

/** Starts the component as the program does, without servers and sockets. The seed does not serve two kinds of extensions. */
const startWorld = ({ leadership = leads, tunnels = open }: WorldOptions = {}) => {
  const clock = createVirtualClock();
  const seed = createSimApiServer({ clock, kinds: seedKinds.filter((kind) => !unserved.has(kind)) });
  const garden = createSimApiServer({ clock, kinds: gardenKinds });
  observeDeployments(seed);
  const shoot = createCareShoot({ clock, seed, garden, name: 'a', nodes: 3 });
  const lines = { seed: withCounting(seed), garden: withCounting(garden), shoot: withCounting(shoot.api) };
  const logger = createRecordingLogger();
  const care = startCare({
    settings: settingsOf('staleExtensionHealthChecks: {enabled: false}'),
    ports: {
      clock,
      random: createSeededRandom(0),
      logger,
      meter: createRecordingMeter(),
      identity: 'test',
      leadership,
      seed: lines.seed,
      garden: lines.garden,
      connector: createMemoryConnector({ clock, resolve: () => lines.shoot, onConnect: () => undefined }),
      tunnels,
    },
  });
  const conditions = (): readonly StoredCondition[] => {
    const stored = garden.store.get(careKinds.Shoot, { namespace: gardenNamespace, name: 'a' });
    return ((stored?.status ?? {}) as { conditions?: readonly StoredCondition[] }).conditions ?? [];
  };
  return { clock, lines, logger, care, conditions, stop: () => clock.run(care.stop()) };
};

const minute = 60_000;

describe('the care component', () => {
  it('treats a kind that the seed does not serve as one without objects', async () => {
    const { clock, care, conditions, stop } = startWorld();
    await clock.advance(2 * minute);
    expect(conditions().map(({ status }) => status)).toEqual(['True', 'True', 'True', 'True', 'True']);
    const checks = care.checks();
    expect(checks.every(({ ok }) => ok)).toBe(true);
    expect(checks.filter(({ detail }) => detail !== undefined).map(({ name }) => name)).toEqual([
      'networks',
      'backupentries',
    ]);
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['clusters', 'secrets', 'leases', 'controllerregistrations', 'controllerinstallations']),
    );
    await stop();
  });

  it('never writes in a seed or shoot, and lists each kind once', async () => {
    const { clock, lines, stop } = startWorld();
    await clock.advance(30 * minute);
    expect(lines.seed.counts.total({ verb: 'patch' })).toBe(0);
    expect(lines.seed.counts.total({ verb: 'list', resource: 'deployments' })).toBe(1);
    expect(lines.seed.counts.total({ verb: 'list', resource: 'managedresources' })).toBe(1);
    expect([...lines.shoot.counts.byKey.keys()].filter((key) => !/^(get|list) /.test(key))).toEqual([]);
    await stop();
  });

  it('writes nothing while it does not lead', async () => {
    const { clock, conditions, logger, lines, stop } = startWorld({ leadership: { mayWrite: () => false } });
    await clock.advance(3 * minute);
    expect(conditions()).toEqual([]);
    expect(lines.garden.counts.total({ verb: 'patch' })).toBe(0);
    expect(logger.lines.some(({ message }) => message.includes('this process may not write it now'))).toBe(true);
    await stop();
  });

  it('keeps the conditions when the configuration changes', async () => {
    const { clock, care, conditions, lines, logger, stop } = startWorld();
    await clock.advance(2 * minute);
    const before = conditions();
    care.apply(settingsOf('{syncPeriod: 10s, staleExtensionHealthChecks: {enabled: false}}'));
    const asked = lines.shoot.counts.total({ resource: '/healthz' });
    await clock.advance(5 * minute);
    expect(lines.shoot.counts.total({ resource: '/healthz' }) - asked).toBeGreaterThanOrEqual(29);
    expect(conditions()).toEqual(before);
    expect(logger.lines.filter(({ message }) => message === 'taking care of shoots')).toHaveLength(2);
    await stop();
  });

  it('does not log the checks that its stop aborts', async () => {
    let tries = 0;
    const hangs: TunnelConnector = {
      connect: (_kubeconfig, _target, signal) => {
        tries += 1;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    };
    const { clock, care, lines, logger, conditions } = startWorld({ tunnels: hangs });
    while (tries === 0) await clock.advance(500);
    await clock.run(care.stop());
    expect(conditions()).toEqual([]);
    const total = lines.seed.counts.total({}) + lines.garden.counts.total({});
    await clock.advance(10 * minute);
    expect(lines.seed.counts.total({}) + lines.garden.counts.total({})).toBe(total);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
