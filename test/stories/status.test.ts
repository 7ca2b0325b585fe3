import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { editDeployment, reachOutage } from '../../simulator/harness/support.ts';
import { formatPause, pausedAnnotation } from '../../src/annotations/pause.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { createStory } from './support/story.ts';

it('an outage is told with its evidence, and with its beginning until nothing is held any more, also by another configuration', async () => {
  const scenario = createStory({ shoots: [{ name: 'a', nodes: 12 }] });
  const { clock, world } = scenario;
  const status = () => statusSchema.parse(scenario.status(world.shoot('a').namespace));
  await reachOutage(scenario);
  const [held] = status().shoots;
  expect(held?.held.map(({ name, replicas }) => [name, replicas])).toEqual([
    ['kube-controller-manager', 1],
    ['machine-controller-manager', 1],
    ['cluster-autoscaler', 1],
  ]);
  expect(held?.marginMs).toBeGreaterThan(10_000);
  expect(held?.leases?.every(({ counted, expired }) => counted && expired)).toBe(true);
  expect(held?.decisions?.map(({ verdict }) => verdict)).toEqual(
    expect.arrayContaining(['healthy', 'confirming', 'unhealthy']),
  );

  const { configHash } = status();
  scenario.reload({ probeIntervalMs: 5_000 });
  await clock.advance(30_000);
  expect(status().configHash).not.toBe(configHash);
  const [later] = status().shoots;
  expect(later).toMatchObject({ state: 'held', decisions: expect.arrayContaining([held?.decisions?.[0]]) as unknown });
  expect(Math.abs(Date.parse(later?.since ?? '') - Date.parse(held?.since ?? ''))).toBeLessThan(2_000);

  world.shoot('a').restoreKubelets();
  const seen = new Set<string>();
  for (let second = 0; second < 150; second += 1) {
    await clock.advance(1_000);
    const [row] = status().shoots;
    seen.add(row?.state ?? '');
    if (row?.held.length !== 0) {
      expect(Math.abs(Date.parse(row?.outageSince ?? '') - Date.parse(later?.outageSince ?? ''))).toBeLessThan(5_000);
    }
  }
  expect(status().shoots[0]?.outageSince).toBeUndefined();
  expect([...seen]).toEqual(['held', 'landing', 'restoring', 'healthy']);
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
