import { afterAll, beforeAll, expect, it } from 'vitest';
import { pausedAnnotation } from '../../src/annotations/pause.ts';
import { missingEnvtest } from '../envtest/gate.ts';
import { describeUnless } from '../gate.ts';
import type { AgentPod } from './support/pod-program.ts';
import { missingHelm, renderChart } from './support/helm.ts';
import { kcm, mcm } from './support/prober-world.ts';
import { type SeedWithShoot, quickValues, startSeedWithShoot } from './support/seed-with-shoot.ts';

const prober = 'system:serviceaccount:garden:dwd-prober';
const refused = 'Job/garden/dwd-uninstall not ready. status: Failed';
const uninstaller = 'system:serviceaccount:garden:dwd-uninstall';
/** Resources that change by themselves: pods of shoots, Events of controllers, and discovery's own records. */
const restless = /^(?:events|pods|apiservices|componentstatuses|replicasets)\b/;

describeUnless([missingEnvtest(), missingHelm()], 'the chart, from an empty cluster to its removal', () => {
  let world: SeedWithShoot;
  let before: readonly string[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('chart');
    await world.seed.kubectl(['create', 'namespace', 'garden']);
    before = await listEverything();
  });
  afterAll(() => world.stop());

  /** Lists all objects of the seed, of every kind, by kind, namespace and name. */
  const listEverything = async (): Promise<readonly string[]> => {
    const kinds = (await world.seed.kubectl(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n');
    const columns = 'custom-columns=:kind,:metadata.namespace,:metadata.name';
    const listed = kinds.filter((kind) => !restless.test(kind)).join();
    return (await world.seed.kubectl(['get', listed, '-A', '--no-headers', '-o', columns]))
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '))
      .toSorted();
  };
  const names = async (kind: string): Promise<readonly string[]> =>
    (await world.seed.kubectl(['get', kind, '-n', 'garden', '-o', 'name'])).split('\n').filter(Boolean);
  /** Returns the versions of pods that are not being deleted, because a rollout does not wait for the end of old pods. */
  const versions = async (): Promise<readonly (string | undefined)[]> =>
    (await world.seed.client.list<AgentPod>('/api/v1/namespaces/garden/pods'))
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.restartPolicy !== 'Never')
      .map(({ spec }) => spec.containers[0]?.image.replace(/^.*:/, ''));
  const configMaps = async (): Promise<number> =>
    (await names('configmaps')).filter((name) => name.includes('prober-config')).length;
  /** Objects that are there beside those before the installation. Leases of the leader election are nobody's. */
  const leftOver = async (): Promise<readonly string[]> =>
    (await listEverything()).filter((one) => !before.includes(one) && !one.startsWith('Lease '));

  it('keeps resources held through an upgrade, one that fails, a roll-back and refused removals, restores them, and leaves nothing', async () => {
    const notes = await world.release('1.0.0');
    expect(notes).toContain('kubectl -n garden get lease dwd-prober-leader-election\n');
    expect(await versions()).toEqual(['1.0.0', '1.0.0']);
    const lines = () => world.programs().flatMap((program) => program.lines().map(({ msg }) => msg ?? ''));
    await world.until('the check of rights', () => lines().includes('no right is missing'));
    expect(lines().filter((line) => line.startsWith('a right is missing'))).toEqual([]);

    let at = Date.now();
    world.kubelets.cut();
    await world.untilHeld();
    expect(world.countsSince(at)).toEqual([`${prober} ${mcm} 0`, `${prober} ${kcm} 0`]);

    at = Date.now();
    await world.release('2.0.0', quickValues([kcm]));
    expect(await versions()).toEqual(['2.0.0', '2.0.0']);
    // A pod of the former version that is replaced in a roll-out finds its configuration.
    expect(await configMaps()).toBe(2);
    await expect(world.release('2.0.0', { prober: { enabled: false } })).rejects.toThrow(refused);
    await world.seed.kubectl(['delete', 'job', 'dwd-uninstall', '-n', 'garden']);
    const failing = world.release('missing', quickValues([kcm], { probeTimeout: '7s' }), ['--timeout=4s']);
    await expect(failing).rejects.toThrow();
    await world.helm(['rollback', 'watchdog', '2', '--wait', '--timeout=10m']);
    expect(await versions()).toEqual(['2.0.0', '2.0.0']);

    const installed = await listEverything();
    await expect(world.helm(['uninstall', 'watchdog', '--timeout=10m'])).rejects.toThrow(refused);
    const now = await listEverything();
    expect(now.filter((one) => !installed.includes(one))).toEqual(['Job garden dwd-uninstall']);
    expect(now.filter((one) => installed.includes(one))).toEqual(installed);
    await world.untilHeld();
    expect(world.countsSince(at)).toEqual([]);

    // The present version does not name machine-controller-manager, and restores it.
    world.kubelets.connect();
    await world.untilUp();
    expect(world.countsSince(at)).toEqual([`${prober} ${kcm} 2`, `${prober} ${mcm} 3`]);
    at = Date.now();
    await world.helm(['uninstall', 'watchdog', '--timeout=10m']);
    expect(world.countsSince(at)).toEqual([]);
    expect(await leftOver()).toEqual([]);
    // Nothing more could be scaled down until the prober was gone.
    expect(await world.seed.kubectl(['get', 'namespace', 'garden', '-o', 'yaml'])).toContain(pausedAnnotation);
    await world.seed.kubectl(['annotate', 'namespace', 'garden', `${pausedAnnotation}-`]);
  });

  it('removes a former configuration and its rights, and restores in order before the prober is disabled in an outage, if told so', async () => {
    await world.release('1.0.0');
    for (const maps of [2, 1]) {
      await world.release('2.0.0', { ...quickValues([kcm]), operator: { enabled: true } });
      expect(await configMaps()).toBe(maps);
      for (const who of ['prober', 'operator']) {
        const role = `dependency-watchdog.gardener.cloud:garden:dwd-${who}`;
        const rights = await world.seed.kubectl(['get', 'clusterrole', role, '-o', 'yaml']);
        expect(rights.includes(mcm), role).toBe(maps === 2);
      }
    }
    await world.release('1.0.0', { uninstall: { despiteOutage: true } });
    world.kubelets.cut();
    await world.untilHeld();
    const at = Date.now();
    await world.release('1.0.0', { prober: { enabled: false }, uninstall: { despiteOutage: true } });
    await world.untilUp();
    expect(world.countsSince(at)).toEqual([`${uninstaller} ${kcm} 2`, `${uninstaller} ${mcm} 3`]);
    await world.helm(['uninstall', 'watchdog']);
    expect(await leftOver()).toEqual([]);
    world.kubelets.connect();
  });

  it('is the same without Helm: rendered, applied and deleted by kubectl', async () => {
    const file = await renderChart({ values: quickValues(), flags: ['--no-hooks'] });
    await world.seed.kubectl(['apply', '--server-side', '-f', '-'], file);
    await world.seed.kubectl(['rollout', 'status', 'deployment/dwd-prober', '-n', 'garden', '--timeout=10m']);
    await world.seed.kubectl(['delete', '-f', '-'], file);
    expect(await leftOver()).toEqual([]);
  });
});
