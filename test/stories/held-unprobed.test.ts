import { expect, it } from 'vitest';
import { createScenario } from '../../simulator/harness/harness.ts';
import { allHeld, editShoot, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { statusSchema } from '../../src/prober/status/schema.ts';

const gauge = 'dwd_prober_held_unprobed{';

it('names what is held of a shoot that no prober probes, until one does', async () => {
  const scenario = createScenario({ shoots: [{ name: 'a' }, { name: 'b' }] });
  const { clock, world } = scenario;
  const a = world.shoot('a');
  const status = (shoot?: string) => statusSchema.parse(scenario.status(shoot));
  const series = async () =>
    (await scenario.meter().metricsText()).split('\n').filter((line) => line.startsWith(gauge));

  await reachOutage(scenario);
  expect([status().heldUnprobed, await series()]).toEqual([undefined, []]);

  // A prober that runs outlives a Shoot that cannot be decoded. One that starts then has nothing to go by.
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, status: { ...shoot.status, lastOperation: 'Reconcile' } }));
  await scenario.stopProber();
  scenario.startProber();
  await clock.advance(60_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  const expected = {
    namespace: a.namespace,
    reason: expect.stringMatching(/^its Cluster cannot be decoded: .*lastOperation/) as string,
    held: ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'].map((name) => ({
      kind: 'Deployment',
      name,
      replicas: 1,
      since: expect.any(String) as string,
    })),
  };
  expect(status().shoots.map(({ namespace }) => namespace)).toEqual([world.shoot('b').namespace]);
  expect(status().heldUnprobed).toMatchObject([expected]);
  expect(status(a.namespace).heldUnprobed).toMatchObject([expected]);
  expect(status(world.shoot('b').namespace).heldUnprobed).toBeUndefined();
  expect(await series()).toEqual([`${gauge}namespace="${a.namespace}"} 3`]);

  // Another configuration finds it again.
  scenario.reload({ probeIntervalMs: 5_000 });
  await clock.advance(10_000);
  expect(status().heldUnprobed).toMatchObject([expected]);

  // Its operation has not ended: it is left as well.
  const during = (state: string) =>
    editShoot(scenario, 'a', (shoot) => ({ ...shoot, status: { lastOperation: { type: 'Restore', state } } }));
  during('Processing');
  await clock.advance(10_000);
  expect(status().heldUnprobed).toMatchObject([{ reason: 'its last operation Restore is Processing' }]);

  // It is probed again, and restored.
  a.restoreKubelets();
  during('Succeeded');
  await clock.advance(120_000);
  expect([status().heldUnprobed, await series()]).toEqual([undefined, []]);
  await scenario.stop();
});
