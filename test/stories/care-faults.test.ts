import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { SimDraft } from '../../simulator/apiserver/store.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import { CareFixture, gardenNamespace } from '../../simulator/harness/care-fixture.ts';
import type { StoredCondition } from '../../simulator/harness/healthcheck-fixture.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';

// Care under faults: shoots and gardens that hang, and Shoots that another client changes at the wrong moment.

let fixture: CareFixture;
beforeEach(() => {
  fixture = new CareFixture();
});
afterEach(() => fixture.stop());

interface StoredShoot {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status: { readonly conditions?: readonly StoredCondition[] };
}

const at = ({ name }: WorldShoot) => ({ namespace: gardenNamespace, name });
const stored = (shoot: WorldShoot) => fixture.garden.store.get(careKinds.Shoot, at(shoot)) as unknown as StoredShoot;
const conditionsOf = (shoot: WorldShoot) => stored(shoot).status.conditions ?? [];
const conditionOf = (shoot: WorldShoot, type: string) => conditionsOf(shoot).find((one) => one.type === type);
const labelOf = (shoot: WorldShoot) => stored(shoot).metadata.labels?.['shoot.gardener.cloud/status'];
const editStatus = (shoot: WorldShoot, changes: object): void =>
  void fixture.garden.store.patch(careKinds.Shoot, at(shoot), (object) => ({
    ...object,
    status: { ...(object.status as object), ...changes },
  }));
const minutes = (count: number): Promise<void> => fixture.clock.advance(count * 60_000);
const gardenWrites = (): number => fixture.requests.garden.total({ verb: 'patch' });
const runsOf = ({ name }: WorldShoot): number => fixture.requests.shoot(name).total({ resource: '/healthz' });
const logged = (msg: RegExp) => fixture.log.filter((line) => msg.test(line.msg));

const drop = 'drop' as const;
const hangsOn = (path: string) => (request: { readonly path: string }) => (request.path === path ? drop : undefined);
const nodes = '/api/v1/nodes';

/** Number of runs that took at most `seconds`, and number of all runs. */
const durations = async (seconds: number): Promise<readonly [within: number, all: number]> => {
  const metrics = await fixture.care.meter.metricsText();
  const count = (le: string) =>
    Number(new RegExp(`^dwd_care_run_seconds_bucket\\{le="${le}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
  return [count(String(seconds)), count('\\+Inf')];
};

describe('a check', () => {
  it('spends at most half of the period on its reads, even if the garden is slow', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults(shoot, hangsOn(nodes));
    fixture.setFaults('garden', ({ method }) => (method === 'GET' ? { delayMs: 4_500 } : undefined));
    fixture.start();
    await minutes(5);
    expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: 'GET /api/v1/nodes: no response within the timeout of the run, 30s',
    });
    const [within, all] = await durations(30);
    expect([within, all >= 4]).toEqual([all, true]);
    expect((await durations(15))[0]).toBe(0);
  });

  it('takes at most 90 s', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults(shoot, hangsOn(nodes));
    fixture.start({ settings: { syncPeriod: 3_600_000 } });
    await minutes(125);
    expect([(await durations(60))[0], await durations(120)]).toEqual([0, [2, 2]]);
  });

  it('gives up a tunnel when its time is over, without reporting it as broken', async () => {
    const shoot = fixture.addShoot('a');
    fixture.tunnel = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    fixture.start({ settings: { syncPeriod: 6_000 } });
    await minutes(1);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: 'no connection to port 22 of pod kube-system/vpn-shoot-0 within the timeout of the run',
    });
    const [within, all] = await durations(3);
    expect([within, all >= 9]).toEqual([all, true]);
  });

  it('without the right to try the tunnel names the right and does not report the tunnel as broken', async () => {
    const shoot = fixture.addShoot('a');
    const message = 'GET /portforward: 403 Forbidden: pods "vpn-shoot-0" is forbidden:';
    fixture.tunnel = () => Promise.reject(new ApiError({ code: 'Forbidden', status: 403, message }));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: `${message} (a tunnel needs the rights to get and create pods/portforward in kube-system)`,
    });
  });

  it('whose /healthz is redirected reports that status', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults(shoot, ({ path }) => (path === '/healthz' ? { status: 302, message: 'moved' } : undefined));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'APIServerAvailable')).toMatchObject({ status: 'False', reason: 'HealthzRequestError' });
    expect(conditionOf(shoot, 'APIServerAvailable')?.message).toMatch(
      /^API server \/healthz endpoint check returned a non ok status code 302\. \(.*moved\)$/,
    );
  });

  it('without the right to list nodes names the right', async () => {
    const shoot = fixture.addShoot('a');
    const message = 'nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope';
    fixture.setFaults(shoot, ({ path }) => (path === nodes ? { status: 403, message } : undefined));
    fixture.start();
    await minutes(2);
    expect(conditionOf(shoot, 'EveryNodeReady')).toMatchObject({
      status: 'Unknown',
      message: `GET /api/v1/nodes: 403 Forbidden: ${message}`,
    });
    expect(logged(/^condition changed$/).filter(({ text }) => String(text).includes(message))).toHaveLength(1);
  });

  it('that runs out of time has the same message each time, so there is one write', async () => {
    const shoot = fixture.addShoot('a');
    let delayMs = 0;
    fixture.setFaults(shoot, (request) =>
      request.path === '/healthz' ? { delayMs: (delayMs += 7) } : hangsOn(nodes)(request),
    );
    fixture.start();
    await minutes(10);
    expect(conditionOf(shoot, 'EveryNodeReady')?.status).toBe('Unknown');
    expect(gardenWrites()).toBe(2);
  });

  it('of a healthy shoot runs every period, although more shoots hang than --concurrent-syncs', async () => {
    const hanging = Array.from({ length: 12 }, (_, index) => fixture.addShoot(`h${String(index)}`, 1));
    for (const shoot of hanging) fixture.setFaults(shoot, hangsOn(nodes));
    const well = Array.from({ length: 12 }, (_, index) => fixture.addShoot(`w${String(index)}`, 1));
    fixture.start({ settings: { concurrentSyncs: 4 } });
    await minutes(4);
    const before = new Map(well.map((shoot) => [shoot, runsOf(shoot)]));
    const hungBefore = hanging.reduce((sum, shoot) => sum + runsOf(shoot), 0);
    await minutes(10);
    for (const shoot of well) expect(runsOf(shoot) - (before.get(shoot) ?? 0)).toBeGreaterThanOrEqual(9);
    // Two places for slow shoots; a check takes 30 s.
    const hung = hanging.reduce((sum, shoot) => sum + runsOf(shoot), 0) - hungBefore;
    expect(Math.abs(hung - 40)).toBeLessThanOrEqual(2);
    // A shoot that responds again is checked every period.
    const [first] = hanging as [WorldShoot];
    fixture.setFaults(first, undefined);
    await minutes(7);
    const answered = runsOf(first);
    await minutes(10);
    expect(runsOf(first) - answered).toBeGreaterThanOrEqual(9);
  });

  it('runs every period even if the tunnels of all shoots are broken, because that does not make shoots count as slow', async () => {
    const shoots = Array.from({ length: 40 }, (_, index) => fixture.addShoot(`s${String(index)}`, 1));
    fixture.tunnel = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    fixture.start({ settings: { concurrentSyncs: 4 } });
    await minutes(4);
    const before = shoots.map(runsOf);
    await minutes(5);
    // Four places; a check takes 5 s.
    const runs = shoots.reduce((sum, shoot, index) => sum + runsOf(shoot) - (before[index] ?? 0), 0);
    expect(runs).toBeGreaterThanOrEqual(190);
  });

  it('runs every period for 250 shoots with the default rate limit to the garden', {
    timeout: 120_000,
  }, async () => {
    const shoots = Array.from({ length: 250 }, (_, index) => fixture.addShoot(`s${String(index)}`, 1));
    fixture.start({ gardenQps: 5 });
    await minutes(4);
    expect(shoots.filter((shoot) => labelOf(shoot) === 'healthy')).toHaveLength(250);
    const before = shoots.map(runsOf);
    await minutes(5);
    const runs = shoots.map((shoot, index) => runsOf(shoot) - (before[index] ?? 0));
    expect([Math.min(...runs) >= 4, Math.max(...runs) <= 6]).toEqual([true, true]);
    expect(logged(/could not be written/)).toEqual([]);
  });

  it('runs at once only when an operation changes from Processing to Succeeded', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({ settings: { syncPeriod: 3_600_000 } });
    await minutes(61);
    const before = runsOf(shoot);
    for (const state of ['Failed', 'Succeeded', 'Pending', 'Succeeded']) {
      fixture.seed.store.patch(simKinds.Cluster, { name: shoot.namespace }, (cluster) => {
        const spec = cluster.spec as { readonly shoot: SimDraft };
        const status = { ...(spec.shoot.status as object), lastOperation: { type: 'Reconcile', state } };
        return { ...cluster, spec: { ...spec, shoot: { ...spec.shoot, status } } };
      });
      await fixture.clock.advance(1_000);
    }
    expect(runsOf(shoot)).toBe(before);
  });

  it('runs at different times for shoots that appear together', async () => {
    fixture.start();
    await minutes(1);
    for (let index = 0; index < 20; index += 1) fixture.addShoot(`s${String(index)}`, 1);
    const checked = () => fixture.requests.garden.total({ verb: 'get' });
    await fixture.clock.advance(5_000);
    expect(checked()).toBeLessThan(10);
    await fixture.clock.advance(55_000);
    expect(checked()).toBeGreaterThanOrEqual(20);
  });
});

describe('a garden that does not respond', () => {
  it.each([undefined, 5])(
    'prevents no check, and gets the conditions when it responds again (limit %j)',
    async (gardenQps) => {
      const shoots = Array.from({ length: 20 }, (_, index) => fixture.addShoot(`s${String(index)}`, 1));
      fixture.setFaults('garden', ({ path }) => (path.includes('/shoots/') ? drop : undefined));
      fixture.start({ settings: { concurrentSyncs: 2 }, ...(gardenQps === undefined ? {} : { gardenQps }) });
      await minutes(4);
      const before = shoots.map(runsOf);
      await minutes(5);
      const runs = shoots.map((shoot, index) => runsOf(shoot) - (before[index] ?? 0));
      expect(Math.min(...runs)).toBeGreaterThanOrEqual(4);
      expect(
        logged(/^conditions could not be written to the garden: no response within 5000 ms of being sent$/),
      ).toHaveLength(20);
      fixture.setFaults('garden', undefined);
      await minutes(2);
      expect(shoots.filter((shoot) => labelOf(shoot) === 'healthy')).toHaveLength(20);
      expect(logged(/^trouble is over$/)).toHaveLength(20);
    },
  );

  it('but is only slow gets the conditions', async () => {
    const shoots = Array.from({ length: 4 }, (_, index) => fixture.addShoot(`s${String(index)}`, 1));
    fixture.setFaults('garden', ({ path }) => (path.includes('/shoots/') ? drop : undefined));
    fixture.start();
    await minutes(3);
    fixture.setFaults('garden', ({ path }) => (path.includes('/shoots/') ? { delayMs: 4_000 } : undefined));
    await minutes(3);
    expect(shoots.filter((shoot) => labelOf(shoot) === 'healthy')).toHaveLength(4);
  });
});

describe('a failure', () => {
  const conditionThresholds = [{ type: 'ControlPlaneHealthy', duration: 120_000 } as const];
  const failing = (shoot: WorldShoot): void =>
    void fixture.seed.store.patch(
      simKinds.Deployment,
      { namespace: shoot.namespace, name: 'kube-scheduler' },
      (object) => ({
        ...object,
        status: { ...(object.status as object), availableReplicas: 0 },
      }),
    );
  const seen = () =>
    logged(/^condition changed$/)
      .filter(({ condition }) => condition === 'ControlPlaneHealthy')
      .map(({ status }) => status);

  it('becomes False after its threshold although no write succeeds, and is written as soon as one does', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({ settings: { conditionThresholds } });
    await minutes(2);
    failing(shoot);
    fixture.setFaults('garden', ({ method }) => (method === 'PATCH' ? { status: 403, message: 'no' } : undefined));
    await minutes(5);
    expect([seen(), conditionOf(shoot, 'ControlPlaneHealthy')?.status]).toEqual([
      ['True', 'Progressing', 'False'],
      'True',
    ]);
    fixture.setFaults('garden', undefined);
    await minutes(1);
    expect([conditionOf(shoot, 'ControlPlaneHealthy')?.status, labelOf(shoot)]).toEqual(['False', 'unhealthy']);
    expect(seen()).toHaveLength(3);
  });

  it('that was written continues from the stored condition, which another client may have changed', async () => {
    const shoot = fixture.addShoot('a');
    fixture.start({ settings: { conditionThresholds } });
    await minutes(2);
    failing(shoot);
    await minutes(1);
    expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('Progressing');
    editStatus(shoot, { conditions: [] });
    await minutes(1);
    expect(conditionOf(shoot, 'ControlPlaneHealthy')?.status).toBe('False');
  });
});

it('a shoot that loses its workers loses the condition of its nodes and the series of that condition', async () => {
  const shoot = fixture.addShoot('a');
  fixture.start();
  await minutes(2);
  expect(await fixture.care.meter.metricsText()).toContain('condition="EveryNodeReady"');
  fixture.garden.store.patch(careKinds.Shoot, at(shoot), (object) => ({
    ...object,
    spec: { ...(object.spec as object), provider: { workers: [] } },
  }));
  await minutes(2);
  expect(conditionOf(shoot, 'EveryNodeReady')).toBeUndefined();
  expect(await fixture.care.meter.metricsText()).not.toMatch(/^dwd_care_condition\{.*EveryNodeReady/m);
});

describe('a Shoot', () => {
  it('that was replaced by another of the same name is not written', async () => {
    const shoot = fixture.addShoot('a');
    editStatus(shoot, { uid: 'uid-of-another' });
    fixture.start();
    await minutes(3);
    expect([conditionsOf(shoot), labelOf(shoot), gardenWrites()]).toEqual([[], undefined, 0]);
    expect(logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
  });

  it('that was just created is written', async () => {
    const shoot = fixture.addShoot('a');
    editStatus(shoot, { uid: undefined });
    fixture.start();
    await minutes(2);
    expect(conditionsOf(shoot)).toHaveLength(5);
  });

  it('that is replaced during its check is not written', async () => {
    const shoot = fixture.addShoot('a');
    let replaced = 0;
    fixture.setFaults('garden', ({ method }) => {
      if (method !== 'PATCH' || replaced > 0) return undefined;
      replaced += 1;
      const { metadata: _, ...object } = fixture.garden.store.get(careKinds.Shoot, at(shoot)) as SimDraft;
      fixture.garden.store.remove(careKinds.Shoot, at(shoot));
      fixture.garden.store.put(careKinds.Shoot, { ...object, metadata: at(shoot) });
      return undefined;
    });
    fixture.start({ settings: { syncPeriod: 3_600_000 } });
    await minutes(60);
    expect([replaced, conditionsOf(shoot), labelOf(shoot)]).toEqual([1, [], undefined]);
    expect(logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
  });

  const isOwnWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    method === 'PATCH' && path.endsWith('/status');

  it('that is deleted during its check is no failure', async () => {
    const shoot = fixture.addShoot('a');
    fixture.setFaults('garden', (request) => {
      if (isOwnWrite(request)) fixture.garden.store.remove(careKinds.Shoot, at(shoot));
      return undefined;
    });
    fixture.start();
    await minutes(1);
    expect(logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
    expect(logged(/could not be written/)).toEqual([]);
  });

  it.each([
    ['5 times', 0, 60_000, 5],
    ['as long as the period lasts', 8_000, 10_000, 2],
  ])('that another client writes continuously is attempted %s', async (_, delayMs, syncPeriodMs, tries) => {
    const shoot = fixture.addShoot('a');
    let round = 0;
    const isTold = () => logged(/^conditions could not be written to the garden: .*Conflict/).length > 0;
    fixture.setFaults('garden', (request) => {
      if (!isOwnWrite(request) || isTold()) return undefined;
      editStatus(shoot, { progress: (round += 1) });
      return { delayMs };
    });
    fixture.start({ settings: { syncPeriod: syncPeriodMs } });
    await fixture.clock.runUntil(isTold);
    expect(round).toBe(tries);
  });

  it('that changes between the two writes gets the label of its new conditions', async () => {
    const shoot = fixture.addShoot('a');
    let changed = 0;
    fixture.setFaults('garden', ({ method, path }) => {
      if (method !== 'PATCH' || path.endsWith('/status') || changed > 0) return undefined;
      changed += 1;
      editStatus(shoot, { lastOperation: { type: 'Reconcile', state: 'Error' } });
      return undefined;
    });
    fixture.start({ settings: { syncPeriod: 3_600_000 } });
    await minutes(60);
    expect([changed, labelOf(shoot)]).toEqual([1, 'unhealthy']);
  });

  it('has the status of the worst of its conditions, even if another client wrote it', async () => {
    const shoot = fixture.addShoot('a');
    editStatus(shoot, { conditions: [{ type: 'Theirs', status: 'False' }] });
    fixture.start();
    await minutes(2);
    expect([conditionOf(shoot, 'ControlPlaneHealthy')?.status, labelOf(shoot)]).toEqual(['True', 'unhealthy']);
  });
});
