import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { weederGrants } from '../../src/weeder/component.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { auditInto } from './support/audit.ts';
import { type PodSpec, createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';
import type { Program } from './support/program.ts';
import { compareRights } from './support/rights.ts';
import { startWeederProgram } from './support/weeder-program.ts';

const namespace = 'shoot--test--one';
const early = 'shoot--test--two';
const apiserver = { 'gardener.cloud/role': 'controlplane', role: 'apiserver' };

const config = `
watchDuration: 20s
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
  kube-apiserver:
    podSelectors:
      - matchLabels: {gardener.cloud/role: controlplane}
        matchExpressions:
          - {key: role, operator: NotIn, values: [main, apiserver]}
`;

const pods = {
  plain: { namespace, name: 'kube-apiserver-1', labels: apiserver, owner: 'kube-apiserver' },
  init: { namespace, name: 'kube-apiserver-2', labels: apiserver, owner: 'init', initContainers: [{ name: 'first' }] },
  sidecar: {
    namespace,
    name: 'kube-apiserver-3',
    labels: apiserver,
    owner: 'sidecar',
    initContainers: [{ name: 'proxy', sidecar: true }],
  },
  healthy: { namespace, name: 'kube-apiserver-4', labels: apiserver, owner: 'healthy' },
  late: { namespace, name: 'kube-apiserver-5', labels: apiserver, owner: 'late' },
  unowned: { namespace, name: 'kube-apiserver-6', labels: apiserver },
  other: { namespace, name: 'scheduler', labels: { ...apiserver, role: 'scheduler' }, owner: 'scheduler' },
} as const satisfies Record<string, PodSpec>;

describeEnvtest('weeder on a real API server', () => {
  let directory: string;
  let seed: ControlPlane;
  let audit: ReturnType<typeof auditInto>;
  let program: Program;

  const requests = () => audit.requests().filter(({ user }) => user === 'weeder');
  const podRequests = () => requests().filter(({ uri }) => /\/pods[/?]/.test(uri) && !uri.includes('/events'));
  /** Returns the names of the pods that are being deleted, in order. */
  const going = async (): Promise<readonly string[]> => {
    const all = await listPods(seed.client, namespace);
    return all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name);
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-real-'));
    audit = auditInto(directory);
    seed = await startControlPlane({ name: 'seed', apiServerFlags: audit.flags });
    for (const name of [namespace, early]) {
      await seed.client.apply(`/api/v1/namespaces/${name}`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
      await setEndpoints(seed.client, { namespace: name, service: 'kube-apiserver', ready: [] });
    }
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false, false] });
    await setEndpoints(seed.client, { namespace: early, service: 'etcd-main-client', ready: [false, true] });
    for (const pod of Object.values(pods)) await createPod(seed.client, pod);
    await setCrashing(seed.client, pods.plain, ['main']);
    await setCrashing(seed.client, pods.init, ['first']);
    await setCrashing(seed.client, pods.sidecar, ['proxy']);
    await setCrashing(seed.client, pods.healthy, []);
    await setCrashing(seed.client, pods.late, []);
    await setCrashing(seed.client, pods.unowned, ['main']);
    await setCrashing(seed.client, pods.other, ['main']);
    const earlyPod = { ...pods.plain, namespace: early };
    await createPod(seed.client, earlyPod);
    await setCrashing(seed.client, earlyPod, ['main']);
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('weeds at its start only the dependents of services that are ready', async () => {
    program = await startWeederProgram(seed, directory, config);
    await waitFor({ what: 'the pod of the early namespace to be deleted' }, async () => {
      const [pod] = await listPods(seed.client, early);
      return pod?.metadata.deletionTimestamp !== undefined;
    });
    expect(await going()).toEqual([]);
    expect(podRequests().filter(({ uri }) => uri.includes(namespace))).toEqual([]);
    const slices = requests().filter(({ uri }) => uri.includes('/endpointslices'));
    expect(slices.map(({ verb }) => verb)).toEqual(['list', 'watch']);
    for (const { uri } of slices) {
      expect(decodeURIComponent(uri).replaceAll('+', ' ')).toContain(
        'labelSelector=kubernetes.io/service-name in (etcd-main-client,kube-apiserver)',
      );
    }
  });

  it('deletes crash-looping dependents when the service becomes ready, whichever container crash-loops', async () => {
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false, true] });
    const bad = [pods.plain.name, pods.init.name, pods.sidecar.name];
    await waitFor({ what: 'three pods to be deleted' }, async () => (await going()).length >= bad.length);
    expect(await going()).toEqual(bad);
    const deletes = podRequests().filter(({ verb, uri }) => verb === 'delete' && uri.includes(namespace));
    expect(deletes).toHaveLength(bad.length);
    for (const { body } of deletes) {
      expect(body).toMatchObject({
        preconditions: { uid: expect.any(String) as string, resourceVersion: expect.any(String) as string },
      });
      expect(body).not.toHaveProperty('gracePeriodSeconds');
    }
  });

  it('deletes a pod that crash-loops later, skips a pod without a controller, and reports both', async () => {
    await setCrashing(seed.client, pods.late, ['main']);
    await waitFor({ what: 'the late pod to be deleted' }, async () => (await going()).includes(pods.late.name));
    expect(await going()).not.toContain(pods.unowned.name);
    const left = program.lines().filter(({ msg }) => msg?.startsWith('left alone'));
    expect(left).toMatchObject([{ namespace, pod: pods.unowned.name, service: 'etcd-main-client' }]);
  });

  it('records in Events why a pod was deleted', async () => {
    const events = await waitFor({ what: 'the Events' }, async () => {
      const text = await seed.kubectl(['get', 'events', '--namespace', namespace]);
      return text.includes(pods.late.name) ? text : undefined;
    });
    expect(events).toMatch(
      new RegExp(
        `Normal +DependencyReady +pod/${pods.init.name} +Deleted so that it starts anew at once: container first in CrashLoopBackOff, and service etcd-main-client became ready [\\d.]+ s ago`,
      ),
    );
  });

  it('ends its watches with the weeding, and itself on SIGTERM', async () => {
    await waitFor({ what: 'the weeding to end' }, () =>
      Promise.resolve(
        program
          .lines()
          .find((line) => line.msg === 'weeding ends' && line.namespace === namespace && line.why === 'expired'),
      ),
    );
    // The audit log contains a watch twice: when it is opened and when it has ended.
    const verbs = (verb: string) => podRequests().filter((request) => request.verb === verb).length;
    await waitFor({ what: 'all watches of pods to end' }, () => verbs('watch') === 2 * verbs('list'));
    const before = podRequests().length;
    await setCrashing(seed.client, pods.healthy, ['main']);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(await going()).not.toContain(pods.healthy.name);
    expect(podRequests()).toHaveLength(before);
    expect(compareRights(weederGrants, requests())).toEqual({ unused: [], refused: [] });
  });
});
