import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, editShoot, reachOutage, stateOf, changeLines } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (): Scenario => (scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] }));

const deletedAt = '2026-11-23T06:00:00Z';

type Edit = Parameters<typeof editShoot>[2];

const released = ['ca 0 replicas=1', 'kcm 0 replicas=1', 'mcm 0 replicas=1'];
/** One for each way to give back what is held: with the count left at 0, and restored. */
const endings: readonly (readonly [ending: string, edit: Edit, state: readonly string[], reason: string])[] = [
  [
    'its hibernation',
    (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: { enabled: true } } }),
    released,
    'hibernation is enabled',
  ],
  [
    'the removal of its workers',
    (shoot) => ({ ...shoot, spec: { ...shoot.spec, provider: { ...shoot.spec.provider, workers: [] } } }),
    allUp,
    'the shoot has no workers',
  ],
];

/** Reasons in the log for the writes after its first `skipped` lines. */
const reasonsOfWrites = (skipped: number): readonly unknown[] => [
  ...new Set(
    scenario.log
      .slice(skipped)
      .filter(({ msg }) => /^(annotated|scaled \w+)$/.test(msg))
      .map(({ reason }) => reason),
  ),
];

describe('while resources of a shoot are held', () => {
  it.each(endings)(
    '%s ends the probing and releases the held resources, and is the reason in the log',
    async (_, edit, state, reason) => {
      create();
      await reachOutage(scenario);
      expect(stateOf(scenario, 'a')).toEqual(allHeld);
      const logged = scenario.log.length;
      editShoot(scenario, 'a', edit);
      await scenario.clock.advance(120_000);
      expect(stateOf(scenario, 'a')).toEqual(state);
      expect(reasonsOfWrites(logged)).toEqual([reason]);
      scenario.shootConnection('a').requests.reset();
      await scenario.clock.advance(600_000);
      expect(scenario.shootConnection('a').requests.total()).toBe(0);
      expect(stateOf(scenario, 'a')).toEqual(state);
      expect(stateOf(scenario, 'b')).toEqual(allUp);
    },
  );

  it.each(endings)('%s while no prober runs has the same effect when a prober starts', async (_, edit, state) => {
    create();
    await reachOutage(scenario);
    await scenario.stopProber();
    editShoot(scenario, 'a', edit);
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    scenario.startProber();
    await scenario.clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(state);
  });

  it.each(endings)('%s aborts a running scale-down', async (_, edit, state) => {
    create();
    const { clock, world, changes } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.runUntil(() => changes.length === 2);
    editShoot(scenario, 'a', edit);
    await clock.advance(120_000);
    // KCM has not been scaled down yet, so its state is not that after a complete scale-down.
    expect(stateOf(scenario, 'a').filter((line) => !line.startsWith('kcm'))).toEqual(
      state.filter((line) => !line.startsWith('kcm')),
    );
    expect(changeLines(changes).some((line) => line.includes('kcm 1->0'))).toBe(false);
  });

  it('workers that return before they are restored are probed at once, and protected again', async () => {
    create();
    await reachOutage(scenario);
    const { clock, world } = scenario;
    const shoot = world.shoot('a');
    shoot.restoreKubelets();
    let former: Parameters<Edit>[0] | undefined;
    editShoot(scenario, 'a', (found) => {
      former = found;
      return { ...found, spec: { ...found.spec, provider: { workers: [] } } };
    });
    await clock.advance(2_000);
    editShoot(scenario, 'a', (found) => former ?? found);
    scenario.shootConnection('a').requests.reset();
    await clock.advance(15_000);
    expect(scenario.shootConnection('a').requests.total()).toBeGreaterThan(0);
    shoot.cutKubelets();
    await clock.advance(60_000);
    expect([stateOf(scenario, 'a'), shoot.impact().nodesTurnedUnknown]).toEqual([allHeld, 0]);
  });
});

describe('while the Clusters cannot be read', () => {
  it.each([
    ['deleted', (shoot) => ({ ...shoot, metadata: { ...shoot.metadata, deletionTimestamp: deletedAt } }), released],
    ['still there', (shoot) => shoot, allUp],
  ] satisfies readonly [string, Edit, readonly string[]][])(
    'a shoot is protected, and restored only after them; meanwhile it was %s',
    async (_, edit, state) => {
      create();
      const { clock, world, seedConnection } = scenario;
      scenario.startProber();
      await clock.advance(60_000);
      seedConnection.setFaults(({ path }) => (path.endsWith('/clusters') ? { status: 503 } : undefined));
      // Longer than the API server keeps the open watch.
      await clock.advance(840_000);
      world.shoot('a').cutKubelets();
      await clock.advance(60_000);
      editShoot(scenario, 'a', edit);
      world.shoot('a').restoreKubelets();
      await clock.advance(180_000);
      expect(stateOf(scenario, 'a')).toEqual(allHeld);
      expect(JSON.stringify(scenario.status())).toContain('restored when the clusters of the seed can be read again');
      seedConnection.setFaults(undefined);
      await clock.advance(180_000);
      expect(stateOf(scenario, 'a')).toEqual(state);
    },
  );
});

describe('a shoot that wakes up', () => {
  const wake = { spec: { hibernation: { enabled: false } }, status: { hibernated: true } };
  const wakingUp: Edit = (shoot) => ({
    ...shoot,
    spec: { ...shoot.spec, ...wake.spec },
    status: { ...shoot.status, ...wake.status },
  });

  it('is not probed when the prober starts, whatever the age of its leases', async () => {
    create();
    const { clock, world } = scenario;
    world.shoot('a').cutKubelets();
    editShoot(scenario, 'a', wakingUp);
    await clock.advance(120_000);
    scenario.startProber();
    await clock.advance(120_000);
    expect(scenario.shootConnection('a').requests.total()).toBe(0);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });

  it('continues to be probed by a running prober', async () => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    editShoot(scenario, 'a', wakingUp);
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });
});

describe('a new shoot', () => {
  it('is probed after the initial delay, and not before its creation has succeeded', async () => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(10_000);
    world.addShoot({ name: 'new', lastOperation: { type: 'Create', state: 'Processing' } });
    await clock.advance(120_000);
    expect(scenario.shootConnection('new').requests.total()).toBe(0);
    editShoot(scenario, 'new', (shoot) => ({
      ...shoot,
      status: { lastOperation: { type: 'Create', state: 'Succeeded' } },
    }));
    await clock.advance(29_000);
    expect(scenario.shootConnection('new').requests.total()).toBe(0);
    await clock.advance(2_000);
    expect(scenario.shootConnection('new').requests.total()).toBe(3);
    world.shoot('new').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'new')).toEqual(allHeld);
  });

  it('with its own grace period is judged by that, also when it changes', async () => {
    create();
    const { clock, world, changes } = scenario;
    world.addShoot({ name: 'slow', nodeMonitorGraceMs: 120_000 });
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('slow').cutKubelets();
    await clock.advance(50_000);
    expect(changes).toEqual([]);
    await clock.advance(25_000);
    expect(stateOf(scenario, 'slow')).toEqual(allHeld);
    expect(world.shoot('slow').impact().nodesTurnedUnknown).toBe(0);
    world.shoot('slow').restoreKubelets();
    await clock.advance(120_000);
    editShoot(scenario, 'slow', (shoot) => ({
      ...shoot,
      spec: { ...shoot.spec, kubernetes: { kubeControllerManager: { nodeMonitorGracePeriod: '40s' } } },
    }));
    await clock.advance(30_000);
    world.shoot('slow').cutKubelets();
    await clock.advance(45_000);
    expect(stateOf(scenario, 'slow')).toEqual(allHeld);
  });
});
