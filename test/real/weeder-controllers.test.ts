import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../envtest/control-plane.ts';
import { startControllerManager } from '../envtest/controller-manager.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { waitFor } from '../envtest/waiting.ts';
import { createPod, listPods, setCrashing, setEndpoints } from './support/pods.ts';
import type { Program } from './support/program.ts';
import { startWeederProgram } from './support/weeder-program.ts';

// The job controller counts the deletions of its pods; the mirroring controller copies Endpoints objects to EndpointSlices.

const namespace = 'shoot--test--one';
const service = 'etcd';
const labels = { role: 'apiserver' };
const jobPath = `/apis/batch/v1/namespaces/${namespace}/jobs`;

const config = `
watchDuration: 1m
servicesAndDependantSelectors:
  ${service}:
    podSelectors: [{matchLabels: {role: apiserver}}]
`;

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
        nodeName: 'node',
        restartPolicy: 'OnFailure',
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'none' }],
      },
    },
  },
};

interface JobStatus {
  readonly failed?: number;
  readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
}

describeEnvtest('weeder beside the real job controller and mirroring controller', () => {
  let directory: string;
  let seed: ControlPlane;
  let controllers: Awaited<ReturnType<typeof startControllerManager>>;
  let program: Program;
  let jobPod: string;

  const logged = (message: string) => program.lines().filter(({ msg }) => msg?.startsWith(message));
  const deleted = () => logged('deleted a crash-looping pod').map(({ pod }) => pod);
  const statusOfJob = async (): Promise<JobStatus> =>
    (await seed.client.get<{ readonly status: JobStatus }>(`${jobPath}/migrate`)).status;
  const podOfJob = async () => {
    const pods = await listPods(seed.client, namespace);
    return pods.find(({ metadata }) => metadata.name.startsWith('migrate-'));
  };
  /** Lets the pod of a ReplicaSet crash-loop, and waits until the weeder deletes it. */
  const untilWeeded = async (name: string): Promise<void> => {
    const pod = { namespace, name, labels, owner: name };
    await createPod(seed.client, pod);
    await setCrashing(seed.client, pod, ['main']);
    await waitFor({ what: `${name} to be deleted`, detail: () => program.output() }, () => deleted().includes(name));
  };
  /** Writes the service's Endpoints object, as people do for a Service without a selector. */
  const setLegacyEndpoints = (isReady: boolean): Promise<unknown> =>
    seed.client.apply(`/api/v1/namespaces/${namespace}/endpoints/${service}`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: service },
      subsets: [
        {
          [isReady ? 'addresses' : 'notReadyAddresses']: [{ ip: '10.0.0.9' }],
          ports: [{ name: 'client', port: 2379 }],
        },
      ],
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dwd-real-'));
    seed = await startControlPlane({ name: 'seed', kinds: [] });
    controllers = await startControllerManager(seed, {
      controllers: ['job-controller', 'endpointslice-mirroring-controller'],
    });
    const { client } = seed;
    await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await client.create(`/api/v1/namespaces/${namespace}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service },
      spec: { ports: [{ name: 'client', port: 2379 }] },
    });
    await setLegacyEndpoints(false);
    await client.create(jobPath, job);
    jobPod = await waitFor({ what: 'the pod of the Job' }, async () => (await podOfJob())?.metadata.name);
    // A restart counts against `backoffLimit`, too.
    await setCrashing(client, { namespace, name: jobPod, labels, restarts: 0 }, ['main']);
    program = await startWeederProgram(seed, directory, config);
  });

  afterAll(async () => {
    program.signal('SIGKILL');
    await controllers.stop();
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('starts a weeding when the only slice of a service, a mirrored one, becomes ready', async () => {
    await setLegacyEndpoints(true);
    await untilWeeded('api-1');
  });

  it('does not take a mirrored slice that stays ready for the readiness of a service with a slice of its own', async () => {
    await setEndpoints(seed.client, { namespace, service, ready: [false] });
    await waitFor({ what: 'the weeding to end' }, () => logged('weeding ends').length === 1);
    expect(logged('weeding ends')).toMatchObject([{ why: 'not-ready', deleted: 1 }]);
    await setEndpoints(seed.client, { namespace, service, ready: [true] });
    await untilWeeded('api-2');
  });

  it('deletes no pod of a Job, which would fail for good, and says so once in each weeding', async () => {
    expect(deleted()).toEqual(['api-1', 'api-2']);
    const why = 'left alone: the Job of the pod would count its deletion as a failure';
    expect(logged('left alone')).toMatchObject([1, 2].map(() => ({ msg: why, namespace, pod: jobPod })));
    expect((await podOfJob())?.metadata).not.toHaveProperty('deletionTimestamp');
    expect(await statusOfJob()).not.toHaveProperty('failed');
    // The same deletion by anybody else shows what the weeder avoids.
    await seed.client.delete(`/api/v1/namespaces/${namespace}/pods/${jobPod}`);
    const failed = await waitFor({ what: 'the Job to fail' }, async () => {
      const { conditions = [] } = await statusOfJob();
      return conditions.find(({ type }) => type === 'FailureTarget' || type === 'Failed');
    });
    expect(failed.reason).toBe('BackoffLimitExceeded');
  });
});
