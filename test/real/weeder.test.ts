import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { weederGrants } from '../../src/weeder/component.ts';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startControllerManager } from '../envtest/controller-manager.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { type PodSpec, createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';
import { type Program, startProgram } from './support/program.ts';
import { compareRights, rulesOf } from './support/rights.ts';

// Beside the real job controller, which counts the deletions of its pods, and the mirroring controller, which copies Endpoints objects to EndpointSlices.

const namespace = 'shoot--test--one';
const mirrored = 'shoot--test--two';
const labels = { 'gardener.cloud/role': 'controlplane', role: 'apiserver' };

const config = `
watchDuration: 1m
servicesAndDependantSelectors:
  etcd: {podSelectors: [{matchLabels: {role: apiserver}}]}
  etcd-main-client:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
`;

const podNamed = (name: string, rest: Partial<PodSpec> = {}): PodSpec => ({ namespace, name, labels, ...rest });
const pods = {
  plain: podNamed('kube-apiserver-1'),
  sidecar: podNamed('kube-apiserver-2', { sidecar: 'proxy' }),
  healthy: podNamed('kube-apiserver-3'),
  late: podNamed('kube-apiserver-4'),
};

/** A single deletion of its pod fails this Job for good. */
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'migrate' },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: { labels },
      spec: {
        ...{ nodeName: 'node', restartPolicy: 'OnFailure', automountServiceAccountToken: false },
        containers: [{ name: 'main', image: 'none' }],
      },
    },
  },
};
const jobPath = `/apis/batch/v1/namespaces/${mirrored}/jobs`;

interface JobStatus {
  readonly failed?: number;
  readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
}

describeEnvtest('weeder on a real API server', () => {
  let directory: string;
  let seed: ControlPlane;
  let controllers: Awaited<ReturnType<typeof startControllerManager>>;
  let program: Program;
  let jobPod: string;

  const requests = () => seed.requests().filter(({ user }) => user === 'weeder');
  const podRequests = () => requests().filter(({ uri }) => /\/pods[/?]/.test(uri) && !uri.includes('/events'));
  const logged = (message: string) => program.lines().filter(({ msg }) => msg?.startsWith(message));
  const until = <T>(what: string, look: () => T | false | undefined | Promise<T | false | undefined>): Promise<T> =>
    waitFor({ what, detail: () => program.output() }, look);
  /** Returns the names of the pods that are being deleted. */
  const going = async (where = namespace): Promise<readonly string[]> => {
    const all = await listPods(seed.client, where);
    return all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name);
  };
  const podOfJob = async () =>
    (await listPods(seed.client, mirrored)).find(({ metadata }) => metadata.name.startsWith('migrate-'));
  const statusOfJob = async (): Promise<JobStatus> =>
    (await seed.client.get<{ readonly status: JobStatus }>(`${jobPath}/migrate`)).status;
  /** Writes the service's Endpoints object, as people do for a Service without a selector. */
  const setLegacyEndpoints = (isReady: boolean): Promise<unknown> =>
    seed.client.apply(`/api/v1/namespaces/${mirrored}/endpoints/etcd`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'etcd' },
      subsets: [
        {
          [isReady ? 'addresses' : 'notReadyAddresses']: [{ ip: '10.0.0.9' }],
          ports: [{ name: 'client', port: 2379 }],
        },
      ],
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-weeder-'));
    seed = await startControlPlane({ name: 'seed', isAudited: true });
    const { client } = seed;
    controllers = await startControllerManager(seed, {
      controllers: ['job-controller', 'endpointslice-mirroring-controller'],
    });
    for (const name of [namespace, mirrored]) await client.create('/api/v1/namespaces', { metadata: { name } });
    await setEndpoints(client, { namespace, service: 'etcd-main-client', ready: [false] });
    for (const pod of Object.values(pods)) await createPod(client, pod);
    await setCrashing(client, pods.plain, ['main']);
    await setCrashing(client, pods.sidecar, ['proxy']);
    for (const pod of [pods.healthy, pods.late]) await setCrashing(client, pod, []);
    const spec = { ports: [{ name: 'client', port: 2379 }] };
    await client.create(`/api/v1/namespaces/${mirrored}/services`, { metadata: { name: 'etcd' }, spec });
    await setLegacyEndpoints(false);
    await client.create(jobPath, job);
    jobPod = await waitFor({ what: 'the pod of the Job' }, async () => (await podOfJob())?.metadata.name);
    // A restart counts against `backoffLimit`, too.
    await setCrashing(client, { namespace: mirrored, name: jobPod, labels, restarts: 0 }, ['main']);

    const configFile = join(directory, 'weeder.yaml');
    writeFileSync(configFile, config);
    const { file } = await seed.kubeconfigFor({ user: 'weeder', rules: rulesOf(weederGrants) });
    const servers = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
    program = startProgram(['weeder', `--config-file=${configFile}`, `--kubeconfig=${file}`, ...servers]);
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await controllers.stop();
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('watches no pods until a service becomes ready, and then deletes those that crash-loop, with preconditions', async () => {
    const slices = () => requests().filter(({ uri }) => uri.includes('/endpointslices'));
    await until('a watch of slices', () => slices().length > 1);
    expect(slices().map(({ verb }) => verb)).toEqual(['list', 'watch']);
    for (const { uri } of slices()) {
      expect(decodeURIComponent(uri).replaceAll('+', ' ')).toContain(
        'labelSelector=kubernetes.io/service-name in (etcd,etcd-main-client)',
      );
    }
    expect(podRequests()).toEqual([]);
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false, true] });
    await until('two pods to be deleted', async () => (await going()).length >= 2);
    await setCrashing(seed.client, pods.late, ['main']);
    await until('the late pod to be deleted', async () => (await going()).includes(pods.late.name));
    expect(await going()).toEqual([pods.plain.name, pods.sidecar.name, pods.late.name]);
    const deletes = podRequests().filter(({ verb }) => verb === 'delete');
    expect(deletes).toHaveLength(3);
    for (const { body } of deletes) {
      expect(body).toMatchObject({
        preconditions: { uid: expect.any(String) as string, resourceVersion: expect.any(String) as string },
      });
      expect(body).not.toHaveProperty('gracePeriodSeconds');
    }
    const events = await until('the Events', async () => {
      const text = await seed.kubectl(['get', 'events', '--namespace', namespace]);
      return text.includes(pods.late.name) && text;
    });
    expect(events).toMatch(
      new RegExp(
        `Normal +DependencyReady +pod/${pods.sidecar.name} +Deleted so that it starts anew at once: container proxy in CrashLoopBackOff, and service etcd-main-client was first seen ready [\\d.]+ s ago`,
      ),
    );
  });

  /** Lets a pod crash-loop beside the Job, and waits until the weeder deletes it. */
  const untilWeeded = async (name: string): Promise<void> => {
    const pod = podNamed(name, { namespace: mirrored });
    await createPod(seed.client, pod);
    await setCrashing(seed.client, pod, ['main']);
    await until(`${name} to be deleted`, async () => (await going(mirrored)).includes(name));
  };

  it('starts a weeding when the only slice of a service, a mirrored one, becomes ready', async () => {
    await setLegacyEndpoints(true);
    await untilWeeded('api-1');
  });

  it('does not take a mirrored slice that stays ready for the readiness of a service with a slice of its own', async () => {
    const ends = () => logged('weeding ends').filter((line) => line.namespace === mirrored);
    await setEndpoints(seed.client, { namespace: mirrored, service: 'etcd', ready: [false] });
    await until('the weeding to end', () => ends().length === 1);
    expect(ends()).toMatchObject([{ why: 'not-ready', deleted: 1 }]);
    await setEndpoints(seed.client, { namespace: mirrored, service: 'etcd', ready: [true] });
    await untilWeeded('api-2');
  });

  it('deletes no pod of a Job, which would fail for good, and says so once in each weeding', async () => {
    expect(await going(mirrored)).toEqual(['api-1', 'api-2']);
    const why = 'left alone: the Job of the pod would count its deletion as a failure';
    expect(logged('left alone')).toMatchObject([1, 2].map(() => ({ msg: why, namespace: mirrored, pod: jobPod })));
    expect((await podOfJob())?.metadata).not.toHaveProperty('deletionTimestamp');
    expect(await statusOfJob()).not.toHaveProperty('failed');
    // The same deletion by anybody else shows what the weeder avoids.
    await seed.client.delete(`/api/v1/namespaces/${mirrored}/pods/${jobPod}`);
    const failed = await until('the Job to fail', async () => {
      const { conditions = [] } = await statusOfJob();
      return conditions.find(({ type }) => type === 'FailureTarget' || type === 'Failed');
    });
    expect(failed.reason).toBe('BackoffLimitExceeded');
  });

  it('ends its watches with the weeding, and itself on SIGTERM, and needs exactly the rights that it declares', async () => {
    await setEndpoints(seed.client, { namespace, service: 'etcd-main-client', ready: [false] });
    await setEndpoints(seed.client, { namespace: mirrored, service: 'etcd', ready: [false] });
    // The audit log contains a watch twice: when it is opened and when it has ended.
    const verbs = (verb: string) => podRequests().filter((request) => request.verb === verb).length;
    await until('all watches of pods to end', () => verbs('watch') === 2 * verbs('list'));
    const before = podRequests().length;
    await setCrashing(seed.client, pods.healthy, ['main']);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(await going()).not.toContain(pods.healthy.name);
    expect(podRequests()).toHaveLength(before);
    expect(compareRights(weederGrants, requests())).toEqual({ unused: [], refused: [] });
  });
});
