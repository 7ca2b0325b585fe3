import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { describeUnless } from '../gate.ts';
import type { AgentPod } from './support/agent-pod.ts';
import { missingHelm, renderChart } from './support/helm.ts';
import { listEverything } from './support/inventory.ts';
import { type SeedWithShoot, kcm, mcm, quickValues, startSeedWithShoot } from './support/seed-with-shoot.ts';

const prober = 'system:serviceaccount:garden:dwd-prober';
const refused = 'Job/garden/dwd-uninstall not ready. status: Failed';
const uninstaller = 'system:serviceaccount:garden:dwd-uninstall';

describeUnless([missingEnvtest(), missingHelm()], 'the chart, from an empty cluster to its removal', () => {
  let world: SeedWithShoot;
  let before: readonly string[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('chart');
    await world.seed.kubectl(['create', 'namespace', 'garden']);
    before = await listEverything(world.seed.client);
  });
  afterAll(() => world.stop());

  const names = async (kind: string): Promise<readonly string[]> =>
    (await world.seed.kubectl(['get', kind, '-n', 'garden', '-o', 'name'])).split('\n').filter(Boolean);
  /** Returns the versions of pods that are not being deleted, because a rollout does not wait for the end of old pods. */
  const versions = async (): Promise<readonly (string | undefined)[]> =>
    (await world.seed.client.list<AgentPod>('/api/v1/namespaces/garden/pods'))
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.restartPolicy !== 'Never')
      .map(({ spec }) => spec.containers[0]?.image.replace(/^.*:/, ''));
  const configMaps = async (): Promise<number> =>
    (await names('configmaps')).filter((name) => name.includes('prober-config')).length;
  const startOutage = async (): Promise<void> => {
    world.kubelets.cut();
    await world.untilCounts(0, 0);
  };
  const endOutage = async (): Promise<void> => {
    world.kubelets.connect();
    await world.untilCounts(2, 3);
  };
  /** Objects that are there beside those before the installation. Leases of the leader election are nobody's. */
  const leftOver = async (): Promise<readonly string[]> =>
    (await listEverything(world.seed.client)).filter((one) => !before.includes(one) && !one.includes('/leases '));

  it('installs, prints its notes, runs its pods, and grants them all the rights that they check', async () => {
    const notes = await world.release('1.0.0');
    expect(notes).toContain('kubectl -n garden get lease dwd-prober-leader-election\n');
    expect(await versions()).toEqual(['1.0.0', '1.0.0']);
    const lines = () => world.agent.programs().flatMap((program) => program.lines().map(({ msg }) => msg ?? ''));
    await waitFor({ what: 'the check of rights', withinMs: 30_000 }, () => lines().includes('no right is missing'));
    expect(lines().filter((line) => line.startsWith('a right is missing'))).toEqual([]);
  });

  it('keeps resources held through an upgrade, and restores one that the new version no longer names', async () => {
    let at = Date.now();
    await startOutage();
    expect(world.countsSince(at)).toEqual([`${prober} ${mcm} 0`, `${prober} ${kcm} 0`]);
    at = Date.now();
    await world.release('2.0.0', { dependents: [kcm] });
    expect(await versions()).toEqual(['2.0.0', '2.0.0']);
    await world.untilCounts(0, 0);
    expect(world.countsSince(at)).toEqual([]);
    // A pod of the former version that is replaced in a roll-out finds its configuration.
    expect(await configMaps()).toBe(2);
    at = Date.now();
    await endOutage();
    expect(world.countsSince(at)).toEqual([`${prober} ${kcm} 2`, `${prober} ${mcm} 3`]);
  });

  it('removes the former configuration and its rights when no pod uses it', async () => {
    await world.release('2.0.0', { dependents: [kcm] });
    expect(await configMaps()).toBe(1);
    const role = 'dependency-watchdog.gardener.cloud:garden:dwd-prober';
    expect(await world.seed.kubectl(['get', 'clusterrole', role, '-o', 'yaml'])).not.toContain(mcm);
  });

  it('keeps working during a failed upgrade, and a roll-back restores the former counts', async () => {
    await world.release('1.0.0');
    await startOutage();
    const at = Date.now();
    const failing = world.release('missing', { probeTimeout: '7s', flags: ['--timeout=4s'] });
    await expect(failing).rejects.toThrow();
    await world.helm(['rollback', 'watchdog', '4', '--wait', '--timeout=2m']);
    expect(await versions()).toEqual(['1.0.0', '1.0.0']);
    expect(world.countsSince(at)).toEqual([]);
    await endOutage();
    expect(world.countsSince(at)).toEqual([`${prober} ${kcm} 2`, `${prober} ${mcm} 3`]);
  });

  it('is not uninstalled in an outage, and changes nothing', async () => {
    await startOutage();
    const at = Date.now();
    const installed = await listEverything(world.seed.client);
    await expect(world.helm(['uninstall', 'watchdog', '--timeout=1m'])).rejects.toThrow(refused);
    const added = (await listEverything(world.seed.client)).filter((one) => !installed.includes(one));
    expect(added).toEqual(['/apis/batch/v1/jobs garden/dwd-uninstall']);
    expect((await listEverything(world.seed.client)).filter((one) => installed.includes(one))).toEqual(installed);
    expect(world.countsSince(at)).toEqual([]);
    expect(await versions()).toEqual(['1.0.0', '1.0.0']);
    await endOutage();
  });

  it('is uninstalled after the outage, and leaves nothing', async () => {
    const at = Date.now();
    await world.helm(['uninstall', 'watchdog', '--timeout=1m']);
    await world.untilCounts(2, 3);
    expect(world.countsSince(at)).toEqual([]);
    expect(await leftOver()).toEqual([]);
  });

  it('restores in order before it is uninstalled in an outage, if told so', async () => {
    await world.release('1.0.0');
    await startOutage();
    await expect(world.helm(['uninstall', 'watchdog', '--timeout=1m'])).rejects.toThrow(refused);
    // Helm calls the release `uninstalling` and upgrades it only after a roll-back.
    await world.helm(['rollback', 'watchdog', '1', '--wait', '--timeout=2m']);
    await world.release('1.0.0', { values: { uninstall: { despiteOutage: true } } });
    await world.untilCounts(0, 0);
    const at = Date.now();
    await world.helm(['uninstall', 'watchdog', '--timeout=2m']);
    await world.untilCounts(2, 3);
    expect(world.countsSince(at)).toEqual([`${uninstaller} ${kcm} 2`, `${uninstaller} ${mcm} 3`]);
    expect(await leftOver()).toEqual([]);
    world.kubelets.connect();
  });

  it('is the same without Helm: rendered, applied, released and deleted by kubectl', async () => {
    const file = await renderChart({ values: quickValues('5s'), flags: ['--no-hooks'] });
    await world.seed.kubectl(['apply', '--server-side', '-f', '-'], file);
    await world.dwd('resume', '--all');
    await world.seed.kubectl(['rollout', 'status', 'deployment/dwd-prober', '-n', 'garden', '--timeout=60s']);
    await world.dwd('resume', '--shoot=shoot--test--one');
    await startOutage();
    const refused = await world.dwd('release', '--all', '--yes');
    expect(refused).toMatchObject({ code: 1 });
    await endOutage();
    expect(await world.dwd('release', '--all', '--yes')).toMatchObject({ code: 0, stdout: 'nothing is held\n' });
    await world.seed.kubectl(['delete', '-f', '-'], file);
    await world.untilCounts(2, 3);
    expect(await leftOver()).toEqual([]);
  });
});
