import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { listEverything } from './support/inventory.ts';
import type { AgentPod } from './support/agent-pod.ts';
import { type SeedWithShoot, kcm, mcm, shootNamespace, startSeedWithShoot } from './support/seed-with-shoot.ts';

const prober = 'system:serviceaccount:garden:dwd-prober';
const [first, second] = ['registry.example/dependency-watchdog:1.0.0', 'registry.example/dependency-watchdog:2.0.0'];

describeEnvtest('an installation, from an empty cluster to its removal', () => {
  let world: SeedWithShoot;
  let { seed, kubelets, audit, dwd, install, configFile, untilCounts, countsSince } = {} as SeedWithShoot;
  let before: readonly string[] = [];

  beforeAll(async () => {
    world = await startSeedWithShoot('install');
    ({ seed, kubelets, audit, dwd, install, configFile, untilCounts, countsSince } = world);
    await seed.kubectl(['create', 'namespace', 'garden']);
    before = await listEverything(seed.client);
  });

  afterAll(() => world.stop());

  const pods = () => seed.client.list<AgentPod>('/api/v1/namespaces/garden/pods');
  /** Returns the images of pods that are not being deleted, because a rollout does not wait for the end of old pods. */
  const stayingImages = async () =>
    (await pods())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0]?.image);
  const names = async (kind: string): Promise<readonly string[]> =>
    (await seed.kubectl(['get', kind, '-n', 'garden', '-o', 'name'])).split('\n').filter(Boolean);
  it('shows in a dry run what it would do, and writes nothing', async () => {
    const at = Date.now();
    const shown = await install(first, '--dry-run');
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.text).toContain('Deployment garden/dwd-prober: would be created\n');
    expect(shown.text).toMatch(/\d+ would be created, 0 unchanged; nothing was changed\n$/);
    const written = audit
      .requests()
      .filter(({ user, verb, at: time }) => user === 'envtest-admin' && verb === 'patch' && time >= at)
      .filter(({ uri }) => uri.includes('fieldManager=dwd'));
    expect(written.length).toBeGreaterThan(5);
    expect(written.filter(({ uri }) => !uri.includes('dryRun=All'))).toEqual([]);
    expect(await listEverything(seed.client)).toEqual(before);
  });

  it('needs a namespace, and creates none without the flag', async () => {
    const refused = await install(first, '--namespace=elsewhere');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.text).toContain('there is no namespace elsewhere\ncreate it, or add --create-namespace\n');
  });

  it('reports within its timeout which pods are not ready, and why', async () => {
    const failed = await install('registry.example/missing:1.0.0', '--timeout=5s');
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.text).toContain(
      'dwd install: not ready in time\nDeployment garden/dwd-prober: 0 of 2 new pods are available\n',
    );
    expect(failed.text).toContain('ImagePullBackOff: Back-off pulling image "registry.example/missing:1.0.0"');
  });

  it('installs, waits until a pod leads, and finds all rights granted', async () => {
    const installed = await install(first);
    expect(installed.text).toMatch(/prober: ready, and dwd-prober-[\w-]+ leads\n/);
    expect(installed.text).toMatch(/prober: rights: ok: all \d+ are granted\n/);
    expect(installed.code).toBe(0);
    expect(await stayingImages()).toEqual([first, first]);
  });

  it('changes nothing the second time', async () => {
    const at = Date.now();
    const again = await install(first, '-o', 'json');
    expect(again.code).toBe(0);
    const { objects } = JSON.parse(again.stdout) as { readonly objects: readonly { readonly change: string }[] };
    expect(objects.filter(({ change }) => change !== 'unchanged')).toEqual([]);
    const written = audit
      .requests()
      .filter(({ uri, at: time }) => time >= at && uri.includes('fieldManager=dwd') && !uri.includes('dryRun=All'));
    expect(written).toEqual([]);
  });

  it('shows the fields that would change', async () => {
    const { text } = await install(second, '--replicas=3', '--dry-run');
    expect(text).toContain('Deployment garden/dwd-prober: would change\n    spec.replicas: 2 -> 3\n');
    expect(text).toContain(
      `    spec.template.spec.containers[name=dependency-watchdog].image: "${first}" -> "${second}"\n`,
    );
  });

  it('keeps the fields that others have set, names their owners, and takes the fields over on request', async () => {
    await seed.kubectl(['scale', 'deployment', 'dwd-prober', '-n', 'garden', '--replicas=3']);
    const refused = await install(first);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.text).toContain('Deployment garden/dwd-prober: .spec.replicas is managed by "kubectl"\n');
    expect(
      await seed.kubectl(['get', 'deployment', 'dwd-prober', '-n', 'garden', '-o', 'jsonpath={.spec.replicas}']),
    ).toBe('3');
    const taken = await install(first, '--force-conflicts');
    expect(taken.text).toContain('Deployment garden/dwd-prober: configured\n');
    expect(taken.code).toBe(0);
  });

  it('cannot end a pause of the configuration, and names the way to end it', async () => {
    const file = configFile('7s');
    appendFileSync(file, 'paused: maintenance of the seed\n');
    expect((await install(first, `--config-file=${file}`)).code).toBe(0);
    const resumed = await dwd('resume', '--all', '--namespace=garden');
    expect([resumed.code, resumed.text]).toEqual([
      0,
      'all shoots: there was no pause to end\nall shoots: still paused by the configuration (maintenance of the seed); to end that, remove `paused` from it\n',
    ]);
    expect((await install(first)).code).toBe(0);
  });

  it('does not change objects of gardener-resource-manager, which would revert the change', async () => {
    const annotate = (origin: string) => seed.kubectl(['annotate', 'deployment', 'dwd-prober', '-n', 'garden', origin]);
    await annotate('resources.gardener.cloud/origin=garden/dependency-watchdog-prober');
    const refused = await install(second, '--force-conflicts');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.text).toContain('Deployment garden/dwd-prober is managed by gardener-resource-manager');
    expect(refused.text).toContain("replace its image in gardenlet's image vector");
    await annotate('resources.gardener.cloud/origin-');
    expect(await stayingImages()).toEqual([first, first]);
  });

  it('protects in an outage with only the installed rights', async () => {
    const at = Date.now();
    kubelets.cut();
    await untilCounts(0, 0);
    expect(countsSince(at)).toEqual([`${prober} ${mcm} 0`, `${prober} ${kcm} 0`]);
  });

  it('changes version and configuration during an outage, and restores nothing before its end', async () => {
    const at = Date.now();
    const dropping = await install(second, `--config-file=${configFile('6s', [kcm])}`);
    expect(dropping.text).toContain(
      `no prober would restore them\nDeployment ${shootNamespace}/${mcm}\nkeep the former configuration`,
    );
    expect(dropping.code).toBe(1);
    const upgraded = await install(second, `--config-file=${configFile('6s')}`);
    expect(upgraded.text).toMatch(/ConfigMap garden\/dwd-prober-config-\w+: pruned\n/);
    expect(upgraded.code).toBe(0);
    expect(await stayingImages()).toEqual([second, second]);
    await untilCounts(0, 0);
    expect(countsSince(at)).toEqual([]);
    kubelets.connect();
    await untilCounts(2, 3);
    expect(countsSince(at)).toEqual([`${prober} ${kcm} 2`, `${prober} ${mcm} 3`]);
  });

  it('removes its objects of a former name, and never the objects of others', async () => {
    await seed.kubectl(['create', 'configmap', 'dwd-prober-config-mine', '-n', 'garden', '--from-literal=a=b']);
    // A copy in another namespace, with its labels.
    const copy = ['configmap', 'copy', '-n', 'default'];
    await seed.kubectl(['create', ...copy]);
    const labels = { installation: 'garden', component: 'prober' };
    for (const [key, value] of Object.entries(labels)) {
      await seed.kubectl(['label', ...copy, `dependency-watchdog.gardener.cloud/${key}=${value}`]);
    }
    const renamed = await install(second, '--name-prefix=guard-');
    await seed.kubectl(['delete', ...copy]);
    expect(renamed.text).toContain('Deployment garden/dwd-prober: pruned\n');
    expect(renamed.text).toMatch(/prober: ready, and guard-prober-[\w-]+ leads\n/);
    expect(await names('deployments,serviceaccounts')).toEqual([
      'deployment.apps/guard-prober',
      'serviceaccount/guard-prober',
    ]);
    expect(await names('configmaps')).toContain('configmap/dwd-prober-config-mine');
    const back = await install(first);
    expect([back.code, await names('deployments')]).toEqual([0, ['deployment.apps/dwd-prober']]);
  });

  it('restores a resource only after the resource of the level before, and otherwise is not removed', async () => {
    const setImage = (image: string) =>
      seed.kubectl(['set', 'image', 'deployment', kcm, '-n', shootNamespace, `main=${image}`]);
    kubelets.cut();
    await untilCounts(0, 0);
    await setImage('missing');
    const at = Date.now();
    const refused = await dwd('uninstall', '--timeout=12s');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.text).toContain(
      `Deployment ${shootNamespace}/${mcm} is at 0 replicas, was 3: a resource before it could not be restored: ` +
        `Deployment ${kcm}: not finished within its timeout of 10s\n`,
    );
    expect(
      countsSince(at)
        .map((line) => line.replace(/^\S+ /, ''))
        .filter((line) => line.startsWith(mcm)),
    ).toEqual([]);
    expect(await names('deployments')).toEqual(['deployment.apps/dwd-prober']);
    await setImage('none');
    await untilCounts(0, 0);
  });

  it('is not removed while a resource would stay at 0, unless forced, and names that resource', async () => {
    await seed.kubectl([
      'annotate',
      'deployment',
      mcm,
      '-n',
      shootNamespace,
      'dependency-watchdog.gardener.cloud/ignore-scaling=true',
    ]);
    const stays = `Deployment ${shootNamespace}/${mcm} is at 0 replicas, was 3: its annotation ignore-scaling excludes it`;
    // The state that a killed uninstallation leaves.
    await seed.kubectl(['scale', 'deployment', 'dwd-prober', '-n', 'garden', '--replicas=0']);
    const refused = await dwd('uninstall');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.text).toContain(stays);
    expect(
      await seed.kubectl(['get', 'deployment', 'dwd-prober', '-n', 'garden', '-o', 'jsonpath={.spec.replicas}']),
    ).toBe('1');
    expect(await names('deployments')).toEqual(['deployment.apps/dwd-prober']);
    await untilCounts(0, 0);
    const forced = await dwd('uninstall', '--force');
    expect(forced.text).toContain(`LEFT: ${stays}`);
    expect([forced.code, await names('deployments')]).toEqual([0, []]);
    await untilCounts(2, 0);
  });

  /** Creates an evicted pod, as the kubelet leaves it: no rollout removes it. Returns its path. */
  const createEvictedPod = async (): Promise<string> => {
    const selected = await seed.kubectl([
      'get',
      'deployment',
      'dwd-prober',
      '-n',
      'garden',
      '-o',
      'jsonpath={.spec.selector.matchLabels}',
    ]);
    const containers = [{ name: 'prober', image: 'registry.example/missing' }];
    await seed.client.create('/api/v1/namespaces/garden/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'evicted', labels: JSON.parse(selected) as Readonly<Record<string, string>> },
      spec: { containers, serviceAccountName: 'dwd-prober' },
    });
    const path = '/api/v1/namespaces/garden/pods/evicted';
    await waitFor({ what: 'the pod waits for its image', withinMs: 60_000 }, async () => {
      const { status } = await seed.client.get<{ status: { containerStatuses?: readonly unknown[] } }>(path);
      return status.containerStatuses;
    });
    await seed.client.patch(`${path}/status`, { status: { phase: 'Failed', reason: 'Evicted' } });
    return path;
  };

  it('restores held resources and leaves nothing behind, even during an outage', async () => {
    await seed.kubectl([
      'annotate',
      'deployment',
      mcm,
      '-n',
      shootNamespace,
      'dependency-watchdog.gardener.cloud/ignore-scaling-',
    ]);
    await seed.kubectl(['scale', 'deployment', mcm, '-n', shootNamespace, '--replicas=3']);
    kubelets.connect();
    expect((await install(first)).code).toBe(0);
    await untilCounts(2, 3);
    kubelets.cut();
    await untilCounts(0, 0);
    const evicted = await createEvictedPod();
    const at = Date.now();
    const gone = await dwd('uninstall');
    await seed.client.delete(evicted);
    expect(gone.text).toContain(
      `Deployment ${shootNamespace}/${kcm}: restored\nDeployment ${shootNamespace}/${mcm}: restored\n`,
    );
    expect(gone.code).toBe(0);
    await untilCounts(2, 3);
    expect(countsSince(at).map((line) => line.replace(/^\S+ /, ''))).toEqual([`${kcm} 2`, `${mcm} 3`]);
    expect(await seed.kubectl(['get', 'events', '-n', shootNamespace])).toContain(
      'Scaled up from 0 to 3 replicas: the dependency-watchdog is uninstalled',
    );
    await seed.kubectl(['delete', 'configmap', 'dwd-prober-config-mine', '-n', 'garden']);
    expect(await pods()).toEqual([]);
    expect(await listEverything(seed.client)).toEqual(before);
    expect((await dwd('uninstall')).text).toContain('nothing is installed in the namespace garden');
  });

  it('installs prober and weeder by default, in a namespace that it creates, and removes each on its own', async () => {
    const here = '--namespace=watch';
    const installed = await dwd('install', here, '--create-namespace', `--image=${first}`);
    expect(installed.text).toMatch(
      /prober: ready, and dwd-prober-[\w-]+ leads\nweeder: ready, and dwd-weeder-[\w-]+ leads\n/,
    );
    expect(installed.text).toMatch(/weeder: rights: ok: all \d+ are granted\n/);
    expect(installed.code).toBe(0);
    expect((await dwd('uninstall')).text).toContain('nothing is installed in the namespace garden');
    const one = await dwd('uninstall', here, '--component=weeder');
    expect([one.code, one.text.includes('dwd-prober')]).toEqual([0, false]);
    expect(await seed.kubectl(['get', 'deployments', '-n', 'watch', '-o', 'name'])).toBe(
      'deployment.apps/dwd-prober\n',
    );
    expect((await dwd('uninstall', here)).code).toBe(0);
    const left = (await listEverything(seed.client)).filter((object) => !before.includes(object));
    expect(left).toEqual(['/api/v1/namespaces /watch']);
  });
});
