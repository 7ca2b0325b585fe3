import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { createProtectedShoot, seedRules, shootRules } from '../envtest/shoot.ts';
import { waitFor } from '../envtest/waiting.ts';
import { auditInto } from './support/audit.ts';
import { type PodSpec, createPod, listPods, setCrashing, setEndpoints, weederRules } from './support/pods.ts';
import { type Watcher, startWatcher } from './support/watcher.ts';

const proberConfig = `
kubeConfigSecretName: shoot-access-prober
probeInterval: 2s
initialDelay: 1s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    optional: true
    scaleUp: {level: 0}
    scaleDown: {level: 0}
`;
const weederConfig = `
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchLabels: {role: apiserver}
`;

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
const looping: PodSpec = { namespace: 'weeded', name: 'api', labels: { role: 'apiserver' }, owner: 'kube-apiserver' };
const silent = /nothing heard of the watch for \d+ s/;
/** A silent watch is opened again after 90 s. The other 10 s are for the new connection, on a busy machine. */
const noticedWithinMs = 100_000;

describeEnvtest('watches whose connections silently lose all packets', () => {
  let directory: string;
  let seed: ControlPlane;
  let slow: ControlPlane;
  let audit: ReturnType<typeof auditInto>;
  let slowAudit: ReturnType<typeof auditInto>;
  const watchers: Watcher[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-real-'));
    audit = auditInto(mkdtempSync(join(directory, 'seed-')));
    slowAudit = auditInto(mkdtempSync(join(directory, 'slow-')));
    [seed, slow] = await Promise.all([
      startControlPlane({ name: 'seed', apiServerFlags: audit.flags }),
      startControlPlane({ name: 'slow', apiServerFlags: slowAudit.flags }),
    ]);
    await Promise.all([createShoot(seed, 'asleep'), createShoot(seed, 'rotated'), createShoot(slow, 'calm')]);
    await seed.client.apply(`/api/v1/namespaces/${looping.namespace}`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: looping.namespace },
    });
    await setEndpoints(seed.client, { namespace: looping.namespace, service: 'etcd-main-client', ready: [false] });
    await createPod(seed.client, looping);
    await setCrashing(seed.client, looping, ['main']);
  });

  afterAll(async () => {
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await Promise.all([seed.stop(), slow.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  /** Returns the kubeconfig of a shoot. The seed is also its shoots' API server, with one user per shoot. */
  const kubeconfigOf = async (plane: ControlPlane, user: string): Promise<string> =>
    (await plane.kubeconfigFor({ user, rules: shootRules })).text;
  const createShoot = async (plane: ControlPlane, namespace: string): Promise<void> =>
    createProtectedShoot(plane, { namespace, kubeconfig: await kubeconfigOf(plane, `prober-${namespace}`) });
  const start = async (component: 'prober' | 'weeder', user: string, plane: ControlPlane): Promise<Watcher> => {
    const own =
      component === 'prober'
        ? { config: proberConfig, rules: seedRules }
        : { config: weederConfig, rules: weederRules };
    const watcher = await startWatcher({ component, user, seed: plane, directory, ...own });
    watchers.push(watcher);
    return watcher;
  };
  const isProbedAs = (log: typeof audit, user: string): boolean =>
    log.requests().some((request) => request.user === user && request.uri === '/version');
  /** Waits until `sees` returns true. Returns the time that it took, in milliseconds. */
  const timed = async (watcher: Watcher, what: string, sees: () => boolean | Promise<boolean>): Promise<number> => {
    const from = performance.now();
    await waitFor({ what, withinMs: 2 * noticedWithinMs, everyMs: 500, detail: watcher.program.output }, sees);
    return performance.now() - from;
  };

  /** Measures how long the prober takes to notice a new Cluster, a hibernation and a rotated Secret. */
  const proberNotices = async (prober: Watcher): Promise<Readonly<Record<string, number>>> => {
    prober.proxy.swallow();
    await createShoot(seed, 'new');
    await seed.client.patch(`${clusters}/asleep`, { spec: { shoot: { spec: { hibernation: { enabled: true } } } } });
    await seed.client.patch('/api/v1/namespaces/rotated/secrets/shoot-access-prober', {
      data: { kubeconfig: Buffer.from(await kubeconfigOf(seed, 'prober-again')).toString('base64') },
    });
    const isNoLongerProbed = (): boolean =>
      prober.program.lines().some((line) => line.msg === 'no longer probing' && line.namespace === 'asleep');
    const [created, hibernated, rotated] = await Promise.all([
      timed(prober, 'the new shoot to be probed', () => isProbedAs(audit, 'prober-new')),
      timed(prober, 'the hibernation to be noticed', isNoLongerProbed),
      timed(prober, 'the new Secret to be used', () => isProbedAs(audit, 'prober-again')),
    ]);
    return { created, hibernated, rotated };
  };

  const weederNotices = async (weeder: Watcher): Promise<Readonly<Record<string, number>>> => {
    weeder.proxy.swallow();
    await setEndpoints(seed.client, { namespace: looping.namespace, service: 'etcd-main-client', ready: [true] });
    const weeding = await timed(weeder, 'the pod to be deleted', async () => {
      const [pod] = await listPods(seed.client, looping.namespace);
      return pod?.metadata.deletionTimestamp !== undefined;
    });
    return { weeding };
  };

  /** Drops all traffic and refuses new connections. Expects that the weeder reports it. */
  const saysThatItIsAway = async (weeder: Watcher): Promise<void> => {
    weeder.proxy.swallow();
    weeder.proxy.refuseNew();
    await timed(weeder, 'the metric to say so', async () =>
      [...(await weeder.ages()).values()].some((age) => age > 95),
    );
    const { status, body } = await weeder.readyz();
    expect(body).toMatch(new RegExp(`^\\[!\\] endpoint-slices: .*; ${silent.source}$`, 'm'));
    expect(status).toBe(200);
  };

  /** Pauses the API server for 80 s. None of its watches may list again, even if they do not survive that. */
  const outlastsPause = async (prober: Watcher): Promise<void> => {
    const lists = (): number =>
      slowAudit
        .requests()
        // A probe lists the machines of its shoot, which nobody watches.
        .filter(({ user, verb, uri }) => user === prober.user && verb === 'list' && !uri.includes('/machines')).length;
    const before = lists();
    await slow.pauseApiServer();
    await sleep(80_000);
    slow.resumeApiServer();
    await createShoot(slow, 'late');
    await timed(prober, 'the late shoot to be probed', () => isProbedAs(slowAudit, 'prober-late'));
    expect(lists()).toBe(before);
  };

  it('rule 17: are opened again within 90 s, also in a fresh process, or else are reported', {
    timeout: 400_000,
  }, async () => {
    const all = await Promise.all([
      start('prober', 'prober', seed),
      start('weeder', 'weeder', seed),
      start('weeder', 'cut-off', seed),
      start('prober', 'patient', slow),
    ]);
    // Before the first bookmark, which an API server sends after a minute, if at all.
    await sleep(35_000);
    const [prober, weeder, cutOff, patient] = all;
    const [seen, weeded] = await Promise.all([
      proberNotices(prober),
      weederNotices(weeder),
      saysThatItIsAway(cutOff),
      outlastsPause(patient),
    ]);
    for (const [what, ms] of Object.entries({ ...seen, ...weeded })) {
      expect(ms, what).toBeLessThan(noticedWithinMs);
    }
  });
});
