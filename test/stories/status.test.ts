import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { editDeployment, editShoot, reachOutage } from '../../simulator/harness/support.ts';
import { formatPause, pausedAnnotation } from '../../src/annotations/pause.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { createStory } from './support/story.ts';

it('a prober reports at any time where its protection is active, since when, why and what comes next', async () => {
  const scenario = createStory({ shoots: [{ name: 'a', nodes: 12 }, { name: 'b' }] });
  const { clock, world } = scenario;
  const [a, b] = [world.shoot('a'), world.shoot('b')];
  const status = (shoot?: string) => statusSchema.parse(scenario.status(shoot));
  const states = () => Object.fromEntries(status().shoots.map(({ namespace, state }) => [namespace, state]));

  scenario.startProber();
  await clock.advance(60_000);
  const healthy = status();
  expect(healthy).toMatchObject({ schemaVersion: 1, identity: 'test', dryRun: false, standby: 'hot' });
  expect(states()).toEqual({ [a.namespace]: 'healthy', [b.namespace]: 'healthy' });
  expect(healthy.shoots.find(({ namespace }) => namespace === a.namespace)).toMatchObject({
    expired: 0,
    held: [],
    next: { text: 'next probe' },
  });
  expect(Date.parse(healthy.at) - Date.parse(healthy.lastRoundEndedAt ?? '')).toBeLessThan(20_000);

  // One shoot is cut off: its resources are held, the other does not change.
  a.cutKubelets();
  await clock.advance(60_000);
  expect(states()).toEqual({ [a.namespace]: 'held', [b.namespace]: 'healthy' });
  const [shoot] = status(a.namespace).shoots;
  expect(shoot?.held.map(({ name, replicas }) => [name, replicas])).toEqual([
    ['kube-controller-manager', 1],
    ['machine-controller-manager', 1],
    ['cluster-autoscaler', 1],
  ]);
  expect(shoot?.reason).toMatch(/expired/);
  expect(shoot?.marginMs).toBeGreaterThan(10_000);
  expect(shoot?.leases?.every(({ counted, expired }) => counted && expired)).toBe(true);
  expect(shoot?.decisions?.map(({ verdict }) => verdict)).toEqual(
    expect.arrayContaining(['healthy', 'confirming', 'unhealthy']),
  );
  const since = Date.parse(shoot?.since ?? '');

  // Another configuration changes the hash, but no state.
  scenario.reload({ probeIntervalMs: 5_000 });
  await clock.advance(30_000);
  expect(status().configHash).not.toBe(healthy.configHash);
  const [later] = status(a.namespace).shoots;
  expect(later?.state).toBe('held');
  expect(Math.abs(Date.parse(later?.since ?? '') - since)).toBeLessThan(2_000);
  expect(later?.decisions?.[0]).toEqual(shoot?.decisions?.[0]);

  // The kubelets return.
  a.restoreKubelets();
  const seen = new Set<string>();
  for (let second = 0; second < 150; second += 1) {
    await clock.advance(1_000);
    const [row] = status(a.namespace).shoots;
    seen.add(row?.state ?? '');
    // Its beginning is told for as long as something is held.
    if (row?.held.length !== 0) {
      expect(Math.abs(Date.parse(row?.outageSince ?? '') - Date.parse(later?.outageSince ?? ''))).toBeLessThan(5_000);
    }
  }
  expect(status(a.namespace).shoots[0]?.outageSince).toBeUndefined();
  expect([...seen]).toEqual(['held', 'landing', 'restoring', 'healthy']);

  // A shoot that is no longer probed says why.
  editShoot(scenario, 'a', (known) => ({ ...known, spec: { ...known.spec, hibernation: { enabled: true } } }));
  await clock.advance(30_000);
  expect(states()).toEqual({ [a.namespace]: 'not probed', [b.namespace]: 'healthy' });
  expect(status(a.namespace).shoots).toMatchObject([{ why: 'hibernation is enabled', next: { text: '' }, do: '' }]);
});

it('lists scalings, pauses and releases by others between the verdicts', async () => {
  const scenario = createStory();
  const { clock, world } = scenario;
  const a = world.shoot('a');
  const acts = (): readonly string[] =>
    (statusSchema.parse(scenario.status(a.namespace)).shoots[0]?.decisions ?? [])
      .map(({ verdict, reason }) => `${verdict}: ${reason}`)
      .filter((line) => !/^(healthy|confirming|unhealthy|landing|skipped): /.test(line));
  const annotate = (annotations: Readonly<Record<string, string>>) =>
    world.store.put(simKinds.Namespace, { metadata: { name: a.namespace, annotations } });
  const each = (what: string): readonly unknown[] =>
    ['cluster-autoscaler', 'kube-controller-manager', 'machine-controller-manager'].map((name): unknown =>
      expect.stringContaining(what.replace('NAME', `Deployment ${name}`)),
    );

  await reachOutage(scenario);
  const down = each('scaled down: NAME, from 1 to 0 replicas');
  expect(acts().toSorted()).toEqual(down);

  // The writes of `dwd release`.
  annotate({ [pausedAnnotation]: formatPause({ reason: 'dwd release', by: 'kim' }) });
  for (const name of ['kcm', 'mcm', 'ca']) {
    editDeployment(scenario, { shoot: 'a', name }, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
      spec: { ...(object.spec as object), replicas: 1 },
    }));
  }
  await clock.advance(30_000);
  expect(acts()[3]).toBe('paused: until it is taken back: dwd release (kim)');
  expect(acts().slice(4).toSorted()).toEqual(
    each('released: NAME is no longer held, but this prober did not release it'),
  );

  annotate({});
  await clock.advance(30_000);
  expect(acts()[7]).toBe('resumed: the pause is over');
  expect(acts().slice(8).toSorted()).toEqual(down);

  // A restoration by the prober is not listed as a release.
  a.restoreKubelets();
  await clock.advance(150_000);
  expect(acts().slice(11).toSorted()).toEqual(each('scaled up: NAME, from 0 to 1 replicas'));
});
