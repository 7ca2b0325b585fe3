import { afterEach, describe, expect, it } from 'vitest';
import { careSeedKinds, extensionKinds } from '../../simulator/apiserver/care-kinds.ts';
import type { SimKind } from '../../simulator/apiserver/kind.ts';
import { CareFixture, gardenNamespace } from '../../simulator/harness/care-fixture.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import type { StoredCondition } from '../../simulator/harness/healthcheck-fixture.ts';
import type { ShootInit } from '../../simulator/world/objects.ts';
import { careConfig } from '../../src/care/config.ts';

let fixture: CareFixture;
const create = (kinds?: readonly SimKind[]): CareFixture => {
  fixture = new CareFixture(kinds);
  return fixture;
};
afterEach(() => fixture.stop());

const minutes = (count: number): Promise<void> => fixture.clock.advance(count * 60_000);
const conditions = (): readonly StoredCondition[] => {
  const stored = fixture.garden.store.get(careKinds.Shoot, { namespace: gardenNamespace, name: 'a' });
  return ((stored?.status ?? {}) as { conditions?: readonly StoredCondition[] }).conditions ?? [];
};

describe('the care component', () => {
  it('treats a kind that the seed does not serve as one without objects', async () => {
    const unserved = new Set<unknown>([extensionKinds.get('BackupEntry'), extensionKinds.get('Network')]);
    create(careSeedKinds.filter((kind) => !unserved.has(kind))).addShoot('a');
    fixture.start();
    await minutes(2);
    expect(conditions().map(({ status }) => status)).toEqual(['True', 'True', 'True', 'True', 'True']);
    const checks = fixture.care.checks();
    expect(checks.every(({ ok }) => ok)).toBe(true);
    expect(checks.filter(({ detail }) => detail !== undefined).map(({ name }) => name)).toEqual([
      'networks',
      'backupentries',
    ]);
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['clusters', 'secrets', 'leases', 'controllerregistrations', 'controllerinstallations']),
    );
  });

  it('reports what it has not seen for more than 90 s as not checked, and nothing else', async () => {
    create().addShoot('a');
    fixture.start();
    await minutes(2);
    const path = '/apis/druid.gardener.cloud/v1alpha1/etcds';
    fixture.setFaults('seed', (request) =>
      request.path === path ? { status: 500, message: 'no webhook' } : undefined,
    );
    fixture.seed.api.setReachability('refused');
    await fixture.clock.advance(1_000);
    fixture.seed.api.setReachability('open');
    await minutes(3);
    const unread = `GET ${path}: 500 ServerError: no webhook`;
    expect(conditions().filter(({ status }) => status !== 'True')).toMatchObject([
      { type: 'ControlPlaneHealthy', status: 'Unknown', reason: 'ConditionCheckError', message: unread },
    ]);
    fixture.setFaults('seed', undefined);
    await minutes(2);
    expect(conditions().filter(({ status }) => status !== 'True')).toEqual([]);
  });

  it('blames no extension for a heartbeat that care could not see', async () => {
    create().addShoot('a');
    fixture.start();
    await minutes(2);
    const path = '/apis/coordination.k8s.io/v1/leases';
    fixture.setFaults('seed', (request) => (request.path === path ? { status: 500 } : undefined));
    fixture.seed.api.setReachability('refused');
    await fixture.clock.advance(1_000);
    fixture.seed.api.setReachability('open');
    await minutes(10);
    expect(conditions().filter(({ status }) => status !== 'True')).toEqual([]);
  });

  it('never writes in a seed or shoot, and lists each kind once', async () => {
    create().addShoot('a');
    fixture.start();
    await minutes(30);
    const { seed, shoot } = fixture.requests;
    expect(seed.total({ verb: 'patch' })).toBe(0);
    expect(seed.total({ verb: 'list', resource: 'deployments' })).toBe(1);
    expect(seed.total({ verb: 'list', resource: 'managedresources' })).toBe(1);
    expect([...shoot('a').byKey.keys()].filter((key) => !/^(get|list) /.test(key))).toEqual([]);
  });

  it('writes nothing while it does not lead', async () => {
    create().addShoot('a');
    fixture.scenario.mayWrite = false;
    fixture.start();
    await minutes(3);
    expect(conditions()).toEqual([]);
    expect(fixture.requests.garden.total({ verb: 'patch' })).toBe(0);
    expect(fixture.log.some(({ msg }) => msg.includes('this process may not write it now'))).toBe(true);
  });

  it('keeps the conditions when the configuration changes', async () => {
    create().addShoot('a');
    fixture.start();
    await minutes(2);
    const before = conditions();
    const { settings } = careConfig.load('syncPeriod: 10s', { unknownFields: 'error' });
    fixture.care.reload(settings!);
    const asked = fixture.requests.shoot('a').total({ resource: '/healthz' });
    await minutes(5);
    expect(fixture.requests.shoot('a').total({ resource: '/healthz' }) - asked).toBeGreaterThanOrEqual(29);
    expect(conditions()).toEqual(before);
    expect(fixture.log.filter(({ msg }) => msg === 'taking care of shoots')).toHaveLength(2);
  });

  it('sends nothing after its end, and does not log the checks that its stop aborts', async () => {
    create().addShoot('a');
    fixture.tunnel = (_target, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    fixture.start();
    await fixture.clock.runUntil(() => fixture.tunnelled.length > 0);
    await fixture.scenario.end(fixture.care);
    expect(conditions()).toEqual([]);
    const total = () => fixture.requests.seed.total() + fixture.requests.garden.total();
    const before = total();
    await minutes(10);
    expect(total()).toBe(before);
    expect(fixture.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('care without a garden', () => {
  const well = {
    APIServerAvailable: 'True HealthzRequestSucceeded',
    ControlPlaneHealthy: 'True ControlPlaneRunning',
    ObservabilityComponentsHealthy: 'True ObservabilityComponentsRunning',
    EveryNodeReady: 'True EveryNodeReady',
    SystemComponentsHealthy: 'True SystemComponentsRunning',
  };
  const start = (init: Partial<ShootInit>, ...names: readonly string[]) => {
    create();
    const shoots = names.map((name) => fixture.addShoot(name, 5, init));
    fixture.start({ withoutGarden: true, settings: { syncPeriod: 10_000 } });
    return shoots;
  };
  const changes = () => fixture.log.filter(({ msg }) => msg === 'condition changed');
  /** Latest logged `status reason` of each condition of a shoot, by type. */
  const logged = (shoot: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      changes()
        .filter(({ namespace }) => namespace === `shoot--sim--${shoot}`)
        .map(({ condition, status, reason }) => [String(condition), `${String(status)} ${String(reason)}`]),
    );

  it.each([
    ['with pods', true],
    ['without pods', false],
  ])('finds a running control plane %s healthy', async (_, controlPlanePods) => {
    start({ controlPlanePods }, 'a');
    await minutes(30);
    expect(logged('a')).toEqual(well);
    expect(changes()).toHaveLength(5);
  });

  it('reports a failing etcd for its control plane, and for no other', async () => {
    const [shoot] = start({ controlPlanePods: true }, 'a', 'b');
    await minutes(1);
    shoot?.breakEtcd();
    await minutes(2);
    expect(logged('a')).toMatchObject({
      APIServerAvailable: 'False HealthzRequestFailed',
      ControlPlaneHealthy: 'False EtcdUnhealthy',
      EveryNodeReady: 'Unknown ConditionCheckError',
    });
    shoot?.crash(['kube-scheduler']);
    shoot?.mendEtcd();
    await minutes(15);
    expect(logged('a')).toEqual({ ...well, ControlPlaneHealthy: 'False DeploymentUnhealthy' });
    shoot?.crash([]);
    await minutes(10);
    expect([logged('a'), logged('b')]).toEqual([well, well]);
  });
});
