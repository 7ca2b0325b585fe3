import { expect, it } from 'vitest';
import { allHeld, editShoot, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { statusSchema } from '../../src/status/state/schema.ts';
import { createStory } from './support/story.ts';

const gauge = 'dwd_prober_held_unprobed{';

it('the status lists held resources of a shoot that is not probed, until it is probed again', async () => {
  const scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }] });
  const { clock, world } = scenario;
  const a = world.shoot('a');
  const status = (shoot?: string) => statusSchema.parse(scenario.status(shoot));
  const heldUnprobed = (shoot?: string) =>
    status(shoot).shoots.filter(({ state, held }) => state === 'not probed' && held.length > 0);
  const series = async () =>
    (await scenario.meter().metricsText()).split('\n').filter((line) => line.startsWith(gauge));

  await reachOutage(scenario);
  expect([heldUnprobed(), await series()]).toEqual([[], []]);

  // A running prober keeps the former state of a Shoot that cannot be decoded. A prober that starts then has none.
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, status: { ...shoot.status, lastOperation: 'Reconcile' } }));
  await scenario.stopProber();
  scenario.startProber();
  await clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  const expected = {
    namespace: a.namespace,
    why: expect.stringMatching(
      /^its Cluster cannot be decoded: .*lastOperation.*; held: kube-controller-manager/,
    ) as string,
    do: `to restore them: dwd release --shoot ${a.namespace}`,
    held: ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'].map((name) => ({
      kind: 'Deployment',
      name,
      replicas: 1,
      since: expect.any(String) as string,
    })),
  };
  expect(heldUnprobed()).toMatchObject([expected]);
  expect(heldUnprobed(a.namespace)).toMatchObject([expected]);
  expect(heldUnprobed(world.shoot('b').namespace)).toEqual([]);
  expect(await series()).toEqual([`${gauge}namespace="${a.namespace}"} 3`]);

  // The prober still reports it after a reload.
  scenario.reload({ probeIntervalMs: 5_000 });
  await clock.advance(10_000);
  expect(heldUnprobed()).toMatchObject([expected]);

  // A shoot whose operation has not ended is not probed either.
  const during = (state: string) =>
    editShoot(scenario, 'a', (shoot) => ({ ...shoot, status: { lastOperation: { type: 'Restore', state } } }));
  during('Processing');
  await clock.advance(10_000);
  expect(heldUnprobed()).toMatchObject([{ notProbed: { reason: 'its last operation Restore is Processing' } }]);

  // The shoot is probed again, and its resources are restored.
  a.restoreKubelets();
  during('Succeeded');
  await clock.advance(120_000);
  expect([heldUnprobed(), await series()]).toEqual([[], []]);
});
