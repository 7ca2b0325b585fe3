import { expect, it } from 'vitest';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, stateOf, changeLines } from '../../simulator/harness/support.ts';

/** Verdicts in the log, in order. Only changes are logged. */
const verdictsOf = ({ log }: Scenario): readonly unknown[] =>
  log.filter(({ msg }) => msg === 'verdict').map(({ verdict }) => verdict);

it('a prober probes a healthy shoot, protects it in an outage, and restores it when the kubelets return', async () => {
  const scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world, changes } = scenario;
  const shoot = world.shoot('a');
  const { requests } = scenario.shootConnection('a');

  // The prober starts and finds the shoot healthy.
  scenario.startProber();
  await clock.advance(60_000);
  expect(verdictsOf(scenario)).toEqual(['healthy']);

  // Every 10 to 12 s it requests the version and the leases, and nothing else.
  requests.reset();
  await clock.advance(120_000);
  const probes = requests.total({ verb: 'get', resource: '/version' });
  expect(probes).toBeGreaterThanOrEqual(10);
  expect(probes).toBeLessThanOrEqual(12);
  expect(Object.fromEntries(requests.byKey)).toEqual({ 'get /version': probes, 'list leases': probes });
  expect(changes).toEqual([]);

  // The kubelets are cut off. After 20 s without a renewal the verdict is `confirming`, 2 s later `unhealthy`; nothing is scaled before.
  shoot.cutKubelets();
  const cutAt = clock.monotonic();
  await clock.advance(18_000);
  expect(changes).toEqual([]);
  await clock.advance(22_000);
  expect(verdictsOf(scenario)).toEqual(['healthy', 'confirming', 'unhealthy']);

  // MCM and the autoscaler are scaled down first, then KCM, well before KCM marks a node.
  expect(changeLines(changes)).toEqual([
    'mcm 1->0 replicas=1 active=',
    'ca 1->0 replicas=1 active=',
    'kcm 1->0 replicas=1 active=',
  ]);
  expect(changes.at(-1)!.at - cutAt).toBeLessThan(25_000);

  // However long the outage lasts, nothing changes, and no node or machine is lost.
  await clock.advance(3_600_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  expect(changes).toHaveLength(3);

  // The kubelets renew again, none of them late. The prober restores KCM first, and MCM only when KCM is ready.
  shoot.restoreKubelets();
  await clock.advance(90_000);
  expect(verdictsOf(scenario)).toEqual(['healthy', 'confirming', 'unhealthy', 'healthy']);
  expect(changeLines(changes.slice(3))).toEqual(['kcm 0->1', 'mcm 0->1', 'ca 0->1']);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
  expect(shoot.impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  await scenario.stop();
});
