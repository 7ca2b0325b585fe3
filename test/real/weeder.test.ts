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
  sidecar: {
    namespace,
    name: 'kube-apiserver-2',
    labels: apiserver,
    owner: 'sidecar',
    initContainers: [{ name: 'proxy', sidecar: true }],
  },
  healthy: { namespace, name: 'kube-apiserver-3', labels: apiserver, owner: 'healthy' },
  late: { namespace, name: 'kube-apiserver-4', labels: apiserver, owner: 'late' },
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
    await seed.kubectl(['create', 'namespace', namespace]);
    for (const service of ['kube-apiserver', 'etcd-main-client']) {
      await setEndpoints(seed.client, { namespace, service, ready: [false] });
    }
    for (const pod of Object.values(pods)) await createPod(seed.client, pod);
    await setCrashing(seed.client, pods.plain, ['main']);
    await setCrashing(seed.client, pods.sidecar, ['proxy']);
    await setCrashing(seed.client, pods.healthy, []);
    await setCrashing(seed.client, pods.late, []);
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('watches no pods until a service becomes ready, and then deletes those that crash-loop, with preconditions', async () => {
    program = await startWeederProgram(seed, directory, config);
    const slices = () => requests().filter(({ uri }) => uri.includes('/endpointslices'));
    await waitFor({ what: 'a watch of slices' }, () => slices().length > 1);
    expect(slices().map(({ verb }) => verb)).toEqual(['list', 'watch']);
    for (const { uri } of slices()) {
      expect(decodeURIComponent(uri).replaceAll('+', ' ')).toContain(
        'labelSelector=kubernetes.io/service-name in (etcd-main-client,kube-apiserver)',
      );
    }
    expect(podRequests()).toEqual([]);
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false, true] });
    await waitFor({ what: 'two pods to be deleted' }, async () => (await going()).length >= 2);
    await setCrashing(seed.client, pods.late, ['main']);
    await waitFor({ what: 'the late pod to be deleted' }, async () => (await going()).includes(pods.late.name));
    expect(await going()).toEqual([pods.plain.name, pods.sidecar.name, pods.late.name]);
    const deletes = podRequests().filter(({ verb }) => verb === 'delete');
    expect(deletes).toHaveLength(3);
    for (const { body } of deletes) {
      expect(body).toMatchObject({
        preconditions: { uid: expect.any(String) as string, resourceVersion: expect.any(String) as string },
      });
      expect(body).not.toHaveProperty('gracePeriodSeconds');
    }
  });

  it('records in Events why a pod was deleted', async () => {
    const events = await waitFor({ what: 'the Events' }, async () => {
      const text = await seed.kubectl(['get', 'events', '--namespace', namespace]);
      return text.includes(pods.late.name) ? text : undefined;
    });
    expect(events).toMatch(
      new RegExp(
        `Normal +DependencyReady +pod/${pods.sidecar.name} +Deleted so that it starts anew at once: container proxy in CrashLoopBackOff, and service etcd-main-client became ready [\\d.]+ s ago`,
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
