import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gardenNamespace } from '../../simulator/harness/care-fixture.ts';
import { careKinds } from '../../simulator/harness/care-kinds.ts';
import type { WorldShoot } from '../../simulator/world/shoot.ts';
import { CareStory, inStatus } from './support/care-story.ts';

// Care under faults: shoots and gardens that hang, and Shoots that another client changes at the wrong moment.

let story: CareStory;
beforeEach(() => {
  story = new CareStory();
});
afterEach(() => story.stop());

const addShoots = (count: number, prefix = 's'): readonly WorldShoot[] =>
  Array.from({ length: count }, (_, index) => story.addShoot(`${prefix}${String(index)}`, 1));
/** Lets time pass. Returns how often each shoot was checked. */
const runsWithin = async (minutes: number, shoots: readonly WorldShoot[]): Promise<readonly number[]> => {
  const before = shoots.map((shoot) => story.runs(shoot));
  await story.minutes(minutes);
  return shoots.map((shoot, index) => story.runs(shoot) - (before[index] ?? 0));
};
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const at = ({ name }: WorldShoot) => ({ namespace: gardenNamespace, name });

const drop = 'drop' as const;
const hangsOn = (path: string) => (request: { readonly path: string }) => (request.path === path ? drop : undefined);
const nodes = '/api/v1/nodes';

/** Number of runs that took at most `seconds`, and number of all runs. */
const durations = async (seconds: number): Promise<readonly [within: number, all: number]> => {
  const metrics = await story.metrics();
  const count = (le: string) =>
    Number(new RegExp(`^dwd_care_run_seconds_bucket\\{le="${le}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
  return [count(String(seconds)), count('\\+Inf')];
};

describe('a check', () => {
  it('spends at most half of the period on its reads, even if the garden is slow', async () => {
    const shoot = story.addShoot('a');
    story.setFaults(shoot, hangsOn(nodes));
    story.setFaults('garden', ({ method }) => (method === 'GET' ? { delayMs: 4_500 } : undefined));
    story.start();
    await story.minutes(5);
    expect(story.condition(shoot, 'EveryNodeReady')).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: 'GET /api/v1/nodes: no response within the timeout of the run, 30s',
    });
    const [within, all] = await durations(30);
    expect([within, all >= 4]).toEqual([all, true]);
    expect((await durations(15))[0]).toBe(0);
  });

  it('takes at most 90 s', async () => {
    const shoot = story.addShoot('a');
    story.setFaults(shoot, hangsOn(nodes));
    story.start({ settings: { syncPeriod: 3_600_000 } });
    await story.minutes(125);
    expect([(await durations(60))[0], await durations(120)]).toEqual([0, [2, 2]]);
  });

  it('gives up a tunnel when its time is over, without reporting it as broken', async () => {
    const shoot = story.addShoot('a');
    story.hangTunnels();
    story.start({ settings: { syncPeriod: 6_000 } });
    await story.minutes(1);
    expect(story.condition(shoot, 'SystemComponentsHealthy')).toMatchObject({
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: 'no connection to port 22 of pod kube-system/vpn-shoot-0 within the timeout of the run',
    });
    const [within, all] = await durations(3);
    expect([within, all >= 9]).toEqual([all, true]);
  });

  it('that runs out of time has the same message each time, so there is one write', async () => {
    const shoot = story.addShoot('a');
    let delayMs = 0;
    story.setFaults(shoot, (request) =>
      request.path === '/healthz' ? { delayMs: (delayMs += 7) } : hangsOn(nodes)(request),
    );
    story.start();
    await story.minutes(10);
    expect(story.condition(shoot, 'EveryNodeReady')?.status).toBe('Unknown');
    expect(story.gardenWrites()).toBe(2);
  });

  it('of a healthy shoot runs every period, although more shoots hang than --concurrent-syncs', async () => {
    const hanging = addShoots(12, 'h');
    for (const shoot of hanging) story.setFaults(shoot, hangsOn(nodes));
    const well = addShoots(12, 'w');
    story.start({ settings: { concurrentSyncs: 4 } });
    await story.minutes(4);
    const runs = await runsWithin(10, [...well, ...hanging]);
    expect(Math.min(...runs.slice(0, 12))).toBeGreaterThanOrEqual(9);
    // Two places for slow shoots; a check takes 30 s.
    expect(Math.abs(sum(runs.slice(12)) - 40)).toBeLessThanOrEqual(2);
    // A shoot that responds again is checked every period.
    const [first] = hanging as [WorldShoot];
    story.setFaults(first, undefined);
    await story.minutes(7);
    expect((await runsWithin(10, [first]))[0]).toBeGreaterThanOrEqual(9);
  });

  it('runs every period even if the tunnels of all shoots are broken, because that does not make shoots count as slow', async () => {
    const shoots = addShoots(40);
    story.hangTunnels();
    story.start({ settings: { concurrentSyncs: 4 } });
    await story.minutes(4);
    // Four places; a check takes 5 s.
    expect(sum(await runsWithin(5, shoots))).toBeGreaterThanOrEqual(190);
  });

  it('runs every period for 250 shoots with the default rate limit to the garden', {
    timeout: 120_000,
  }, async () => {
    const shoots = addShoots(250);
    story.start({ gardenQps: 5 });
    await story.minutes(4);
    expect(shoots.filter((shoot) => !story.isWell(shoot))).toEqual([]);
    const runs = await runsWithin(5, shoots);
    expect([Math.min(...runs) >= 4, Math.max(...runs) <= 6]).toEqual([true, true]);
    expect(story.logged(/could not be written/)).toEqual([]);
  });

  it('runs at different times for shoots that appear together', async () => {
    story.start();
    await story.minutes(1);
    addShoots(20);
    const checked = () => story.requests.garden.total({ verb: 'get' });
    await story.clock.advance(5_000);
    expect(checked()).toBeLessThan(10);
    await story.clock.advance(55_000);
    expect(checked()).toBeGreaterThanOrEqual(20);
  });
});

it('a garden that does not respond prevents no check, and gets the conditions when it responds again', async () => {
  const shoots = addShoots(20);
  story.setFaults('garden', ({ path }) => (path.includes('/shoots/') ? drop : undefined));
  story.start({ settings: { concurrentSyncs: 2 }, gardenQps: 5 });
  await story.minutes(4);
  expect(Math.min(...(await runsWithin(5, shoots)))).toBeGreaterThanOrEqual(4);
  const told = /^conditions could not be written to the garden: no response within 5000 ms of being sent$/;
  expect(story.logged(told)).toHaveLength(20);
  story.setFaults('garden', undefined);
  await story.minutes(2);
  expect(shoots.filter((shoot) => !story.isWell(shoot))).toEqual([]);
  expect(story.logged(/^trouble is over$/)).toHaveLength(20);
});

it('a garden that does not respond to the first reads keeps its conditions, of which the Cluster has an older copy', async () => {
  const shoot = story.addShoot('a');
  story.available(shoot, false);
  const since = new Date(story.clock.now() - 86_400_000).toISOString();
  const broken = { type: 'ControlPlaneHealthy', status: 'False', reason: 'DeploymentUnhealthy', message: 'x' };
  story.editShoot(shoot, inStatus({ conditions: [{ ...broken, lastTransitionTime: since, lastUpdateTime: since }] }));
  story.editCluster(shoot, inStatus({ conditions: [{ ...broken, status: 'True' }] }));
  story.setFaults('garden', ({ method }) => (method === 'GET' ? { status: 500 } : undefined));
  story.start();
  await story.minutes(3);
  expect(story.logged(/^conditions could not be written to the garden/)).toHaveLength(1);
  story.setFaults('garden', undefined);
  await story.minutes(2);
  expect(story.conditions(shoot)).toHaveLength(5);
  expect(story.condition(shoot, 'ControlPlaneHealthy')).toMatchObject({ status: 'False', lastTransitionTime: since });
});

describe('a failure', () => {
  const conditionThresholds = [{ type: 'ControlPlaneHealthy', duration: 120_000 } as const];
  it('becomes False after its threshold although no write succeeds, and is written as soon as one does', async () => {
    const shoot = story.addShoot('a');
    story.start({ settings: { conditionThresholds } });
    await story.minutes(2);
    story.available(shoot, false);
    story.setFaults('garden', ({ method }) => (method === 'PATCH' ? { status: 403, message: 'no' } : undefined));
    await story.minutes(5);
    expect([story.changes(), story.condition(shoot, 'ControlPlaneHealthy')?.status]).toEqual([
      ['True', 'Progressing', 'False'],
      'True',
    ]);
    story.setFaults('garden', undefined);
    await story.minutes(1);
    expect([story.condition(shoot, 'ControlPlaneHealthy')?.status, story.label(shoot)]).toEqual(['False', 'unhealthy']);
    expect(story.changes()).toHaveLength(3);
  });

  it('that was written, although the label is refused, continues from the stored condition, which another client may have changed', async () => {
    const shoot = story.addShoot('a');
    const refused = { status: 403, message: 'no' };
    story.setFaults('garden', ({ method, path }) =>
      method === 'PATCH' && !path.endsWith('/status') ? refused : undefined,
    );
    story.start({ settings: { conditionThresholds } });
    await story.minutes(2);
    story.available(shoot, false);
    await story.minutes(1);
    expect(story.condition(shoot, 'ControlPlaneHealthy')?.status).toBe('Progressing');
    story.editShoot(shoot, inStatus({ conditions: [] }));
    await story.minutes(1);
    expect(story.condition(shoot, 'ControlPlaneHealthy')?.status).toBe('False');
    expect(story.logged(/could not be written/)).toMatchObject([
      { msg: expect.stringMatching(/^the label /) as string },
    ]);
    expect(await story.metrics()).not.toContain('outcome="failed"');
  });
});

describe('a Shoot', () => {
  it('that was replaced by another of the same name is not written', async () => {
    const shoot = story.addShoot('a');
    story.editShoot(shoot, inStatus({ uid: 'uid-of-another' }));
    story.start();
    await story.minutes(3);
    expect([story.conditions(shoot), story.label(shoot), story.gardenWrites()]).toEqual([[], undefined, 0]);
    expect(story.logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
  });

  it('that was just created is written', async () => {
    const shoot = story.addShoot('a');
    story.editShoot(shoot, inStatus({ uid: undefined }));
    story.start();
    await story.minutes(2);
    expect(story.conditions(shoot)).toHaveLength(5);
  });

  it('that is replaced during its check is not written', async () => {
    const shoot = story.addShoot('a');
    let replaced = 0;
    story.setFaults('garden', ({ method }) => {
      if (method !== 'PATCH' || replaced > 0) return undefined;
      replaced += 1;
      const { metadata: _, ...object } = story.stored(shoot);
      story.garden.store.remove(careKinds.Shoot, at(shoot));
      story.garden.store.put(careKinds.Shoot, { ...object, metadata: at(shoot) });
      return undefined;
    });
    story.start({ settings: { syncPeriod: 3_600_000 } });
    await story.minutes(60);
    expect([replaced, story.conditions(shoot), story.label(shoot)]).toEqual([1, [], undefined]);
    expect(story.logged(/^there is no such Shoot in the garden$/)).toHaveLength(1);
  });

  const isOwnWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
    method === 'PATCH' && path.endsWith('/status');

  it.each([
    ['5 times', 0, 60_000, 5],
    ['as long as the period lasts', 8_000, 10_000, 2],
  ])('that another client writes continuously is attempted %s', async (_, delayMs, syncPeriodMs, tries) => {
    const shoot = story.addShoot('a');
    let round = 0;
    const isTold = () => story.logged(/^conditions could not be written to the garden: .*Conflict/).length > 0;
    story.setFaults('garden', (request) => {
      if (!isOwnWrite(request) || isTold()) return undefined;
      story.editShoot(shoot, inStatus({ progress: (round += 1) }));
      return { delayMs };
    });
    story.start({ settings: { syncPeriod: syncPeriodMs } });
    await story.clock.runUntil(isTold);
    expect(round).toBe(tries);
  });

  it('that changes between the two writes gets the label of its new conditions', async () => {
    const shoot = story.addShoot('a');
    let changed = 0;
    story.setFaults('garden', ({ method, path }) => {
      if (method !== 'PATCH' || path.endsWith('/status') || changed > 0) return undefined;
      changed += 1;
      story.editShoot(shoot, inStatus({ lastOperation: { type: 'Reconcile', state: 'Error' } }));
      return undefined;
    });
    story.start({ settings: { syncPeriod: 3_600_000 } });
    await story.minutes(60);
    expect([changed, story.label(shoot)]).toEqual([1, 'unhealthy']);
  });
});
