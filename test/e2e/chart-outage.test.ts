import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingEnvtest } from '../envtest/gate.ts';
import { describeUnless } from '../gate.ts';
import { chart, missingHelm, runHelm } from './support/helm.ts';
import { listEverything } from './support/inventory.ts';
import type { AgentPod } from './support/agent-pod.ts';
import { startProgram } from './support/program.ts';
import { type SeedWithShoot, kcm, mcm, shootNamespace, startSeedWithShoot } from './support/seed-with-shoot.ts';

const prober = 'system:serviceaccount:garden:dwd-prober';
const image = (version: string): string => `registry.example/dependency-watchdog:${version}`;
const keptAs = 'configmap/dwd-prober-config-';
const rescue = 'Helm still has a record of the release: helm uninstall watchdog -n garden removes it\n';

describeUnless([missingEnvtest(), missingHelm()], 'the chart, from an empty cluster to its removal', () => {
  let world: SeedWithShoot;
  let before: readonly string[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('chart');
    await world.seed.kubectl(['create', 'namespace', 'garden']);
    before = await listEverything(world.seed.client);
  });
  afterAll(() => world.stop());

  const helm = (...args: readonly string[]): Promise<string> =>
    runHelm(...args, '--namespace=garden', `--kubeconfig=${world.seed.admin.kubeconfig.file}`);
  /** Runs Helm with the values that `dwd manifests` prints for a configuration. */
  const release = async (
    verb: 'install' | 'upgrade',
    { version, probeTimeout }: { readonly version: string; readonly probeTimeout: string },
    ...flags: readonly string[]
  ): Promise<string> => {
    const config = world.configFile(probeTimeout);
    const flagsOfValues = [`--image=${image(version)}`, `--config-file=prober=${config}`, '--output=values'];
    const stdout = await manifests('--component=prober,policy', ...flagsOfValues);
    const values = join(world.directory, `values-${probeTimeout}.yaml`);
    writeFileSync(values, stdout);
    return helm(verb, 'watchdog', chart, `--values=${values}`, '--wait', '--timeout=2m', ...flags);
  };
  const manifests = async (...args: readonly string[]): Promise<string> => {
    const program = startProgram(['manifests', ...args]);
    expect(await program.ended).toBe(0);
    return program.stdout();
  };
  const names = async (kind: string): Promise<readonly string[]> =>
    (await world.seed.kubectl(['get', kind, '-n', 'garden', '-o', 'name'])).split('\n').filter(Boolean);
  /** Returns the images of pods that are not being deleted, because a rollout does not wait for the end of old pods. */
  const stayingImages = async () =>
    (await world.seed.client.list<AgentPod>('/api/v1/namespaces/garden/pods'))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0]?.image);
  const configMaps = async (): Promise<number> =>
    (await names('configmaps')).filter((name) => name.startsWith(keptAs)).length;
  const countsSince = (at: number): readonly string[] => world.countsSince(at).map((line) => line.replace(/^\S+ /, ''));

  it('installs, prints its notes, and runs its pods', async () => {
    const notes = await release('install', { version: '1.0.0', probeTimeout: '5s' });
    expect(notes).toContain('dwd uninstall -n garden');
    expect(await stayingImages()).toEqual([image('1.0.0'), image('1.0.0')]);
  });

  it('protects in an outage with the installed rights, and keeps resources held during an upgrade', async () => {
    let at = Date.now();
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    expect(world.countsSince(at)).toEqual([`${prober} ${mcm} 0`, `${prober} ${kcm} 0`]);
    at = Date.now();
    await release('upgrade', { version: '2.0.0', probeTimeout: '6s' });
    expect(await stayingImages()).toEqual([image('2.0.0'), image('2.0.0')]);
    await world.untilCounts(0, 0);
    expect(world.countsSince(at)).toEqual([]);
    expect(await configMaps()).toBe(2);
  });

  it('keeps working during a failed upgrade and a rollback, and restores the former counts', async () => {
    const at = Date.now();
    await expect(release('upgrade', { version: 'missing', probeTimeout: '7s' }, '--timeout=4s')).rejects.toThrow();
    expect(await configMaps()).toBe(3);
    await helm('rollback', 'watchdog', '1', '--wait', '--timeout=2m');
    expect(await stayingImages()).toEqual([image('1.0.0'), image('1.0.0')]);
    expect(world.countsSince(at)).toEqual([]);
    world.kubelets.connect();
    await world.untilCounts(2, 3);
    expect(world.countsSince(at)).toEqual([`${prober} ${kcm} 2`, `${prober} ${mcm} 3`]);
  });

  it('is not changed by dwd install, which names the objects of Helm', async () => {
    const flags = ['--component=prober,policy', `--image=${image('2.0.0')}`, `--config-file=${world.configFile('6s')}`];
    const refused = await world.dwd('install', ...flags);
    expect(refused.text).toContain('is managed by "helm"');
    expect(refused.code).toBe(1);
    const renamed = await world.dwd('install', ...flags, '--name-prefix=guard-');
    expect(renamed.text).toContain('Deployment garden/dwd-prober belongs to the release watchdog\n');
    expect(renamed.code).toBe(1);
    expect(await names('deployments')).toEqual(['deployment.apps/dwd-prober']);
    const taken = await world.dwd('install', ...flags, '--force-conflicts');
    expect(taken.text).toContain('Deployment garden/dwd-prober: configured\n');
    expect(taken.code).toBe(0);
    expect(await configMaps()).toBe(1);
    await release('upgrade', { version: '1.0.0', probeTimeout: '5s' }, '--force-conflicts');
  });

  it('restores held resources during an outage and leaves nothing behind, by dwd uninstall and then Helm', async () => {
    world.kubelets.cut();
    await world.untilCounts(0, 0);
    const at = Date.now();
    const gone = await world.dwd('uninstall');
    expect(gone.text).toContain(
      `Deployment ${shootNamespace}/${kcm}: restored\nDeployment ${shootNamespace}/${mcm}: restored\n`,
    );
    expect(gone.text).toContain(rescue);
    expect(gone.code).toBe(0);
    await world.untilCounts(2, 3);
    expect(countsSince(at)).toEqual([`${kcm} 2`, `${mcm} 3`]);
    await helm('uninstall', 'watchdog');
    expect(await listEverything(world.seed.client)).toEqual(before);
  });

  it('leaves resources held after helm uninstall alone, until dwd uninstall restores them from the kept ConfigMaps', async () => {
    await release('install', { version: '1.0.0', probeTimeout: '5s' });
    await world.untilCounts(0, 0);
    await helm('uninstall', 'watchdog', '--wait');
    expect(await names('deployments')).toEqual([]);
    await world.untilCounts(0, 0);
    const at = Date.now();
    const gone = await world.dwd('uninstall');
    expect([gone.code, gone.text.includes(rescue)]).toEqual([0, false]);
    await world.untilCounts(2, 3);
    expect(countsSince(at)).toEqual([`${kcm} 2`, `${mcm} 3`]);
    expect(await listEverything(world.seed.client)).toEqual(before);
  });

  it('does not overlook a prober without labels', async () => {
    const stdout = await manifests('--component=prober', '--name-prefix=old-');
    const unlabelled = stdout.replaceAll(
      /^ +dependency-watchdog\.gardener\.cloud\/(?:installation|component): .*\n/gm,
      '',
    );
    await world.seed.kubectl(['apply', '--server-side', '-f', '-'], unlabelled);
    const refused = await world.dwd('uninstall');
    expect(refused.text).toContain('Deployment garden/old-prober\ntake it over with dwd install');
    expect(refused.code).toBe(1);
    await world.seed.kubectl(['apply', '--server-side', '-f', '-'], stdout);
    expect((await world.dwd('uninstall')).code).toBe(0);
    expect(await listEverything(world.seed.client)).toEqual(before);
  });
});
