import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { type PodInit, schedulerLabels } from '../../../simulator/harness/weeder/kubelet.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { requestKind } from '../../../simulator/network/counting.ts';

const apiserver = { namespace: ns, name: 'kube-apiserver' };
const pod = (name: string, owner?: PodInit['owner']): PodInit => ({ namespace: ns, name, owner });

let fixture: WeederFixture;
beforeEach(() => {
  fixture = createWeederFixture();
});
afterEach(() => fixture.stop());

const begin = (): Promise<void> => beginWithoutEtcd(fixture);

const ends = (): readonly unknown[] => fixture.logged('weeding ends').map(({ why, deleted }) => [why, deleted]);

describe('the life of a weeding', () => {
  it('starts when the service becomes ready, watches and deletes pods that crash-loop then and later, and ends after watchDuration', async () => {
    fixture.kubelet.crash(pod('api-1'));
    fixture.kubelet.run(pod('api-2', 'other'));
    await begin();
    const requested = (verb?: string) => fixture.line.requests.total({ verb, resource: 'pods' });
    expect(requested()).toBe(0);
    fixture.kubelet.endpoints(etcd, false, true);
    await fixture.clock.advance(60_000);
    expect(fixture.kubelet.deleted).toEqual([`${ns}/api-1 at 10.0`]);
    fixture.kubelet.crash(pod('api-2', 'other'));
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted.slice(1)).toEqual([`${ns}/api-2 at 70.0`]);
    await fixture.clock.advance(300_000);
    expect(ends()).toEqual([['expired', 2]]);
    fixture.kubelet.crash(pod('api-3', 'third'));
    await fixture.clock.advance(1_200_000);
    expect(fixture.kubelet.deleted).toHaveLength(2);
    expect([requested('list'), requested('watch'), requested()]).toEqual([1, 1, 4]);
    expect(fixture.logged('deleted a crash-looping pod')).toMatchObject([
      { namespace: ns, pod: 'api-1', containers: ['main'], service: 'etcd-main-client' },
      { pod: 'api-2', service: 'etcd-main-client' },
    ]);
  });

  it('starts again when the service is lost and becomes ready again', async () => {
    await begin();
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(200_000);
    fixture.kubelet.endpoints(etcd, false);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(200_000);
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
    expect(ends()).toEqual([['not-ready', 0]]);
    expect(fixture.logged('weeding starts: the service is ready')).toHaveLength(2);
  });

  it('starts although a slice that was mirrored from an Endpoints object has stayed behind, ready', async () => {
    const labels = {
      'kubernetes.io/service-name': etcd.name,
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    };
    fixture.world.store.put(simKinds.EndpointSlice, {
      metadata: { namespace: ns, name: `${etcd.name}-stale`, labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.9'], conditions: { ready: true } }],
    });
    fixture.kubelet.crash(pod('api-1'));
    await begin();
    expect(fixture.kubelet.deleted).toEqual([]);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toEqual([`${ns}/api-1 at 10.0`]);
    fixture.kubelet.removeEndpoints(etcd);
    await fixture.clock.advance(60_000);
    expect(ends()).toEqual([['not-ready', 1]]);
    expect(fixture.logged('weeding starts: the service is ready')).toHaveLength(1);
  });
});

describe('pods', () => {
  it('that recover just before the delete are skipped, and deleted if they crash again', async () => {
    await begin();
    fixture.kubelet.crash(pod('api-1'));
    // The kubelet updates the pod before our request arrives.
    let recoveries = 0;
    fixture.line.setFaults((request) => {
      if (requestKind(request).verb !== 'delete' || recoveries > 0) return undefined;
      recoveries += 1;
      fixture.kubelet.run(pod('api-1'));
      return undefined;
    });
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(30_000);
    expect(recoveries).toBe(1);
    expect(fixture.kubelet.deleted).toEqual([]);
    expect(fixture.logged('not deleted: the pod has changed')).toHaveLength(1);
    expect(fixture.logged('deleting failed, trying again')).toEqual([]);
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
  });

  it('without a controller owner are not deleted, which is logged once', async () => {
    await begin();
    fixture.kubelet.crash(pod('alone', null));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(30_000);
    fixture.kubelet.run(pod('alone', null));
    fixture.kubelet.crash(pod('alone', null));
    await fixture.clock.advance(150_000);
    expect(fixture.kubelet.deleted).toEqual([]);
    expect(fixture.logged('left alone: no controller owns the pod, so nobody would bring it back')).toMatchObject([
      { namespace: ns, pod: 'alone' },
    ]);
  });

  it('of another service, namespace or label are not deleted', async () => {
    await begin();
    fixture.kubelet.crash({ ...pod('sched-1'), labels: schedulerLabels });
    fixture.kubelet.crash({ ...pod('api-1'), namespace: 'shoot--b' });
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(30_000);
    expect(fixture.kubelet.deleted).toEqual([]);
  });

  it('that two services select are attributed to the one that became ready last', async () => {
    const podSelectors = [{ matchLabels: { role: 'apiserver' }, matchExpressions: [] }];
    fixture.start({ services: [apiserver.name, etcd.name].map((name) => ({ name, podSelectors })) });
    await fixture.clock.advance(1_000);
    for (const service of [etcd, apiserver]) {
      fixture.kubelet.endpoints(service, true);
      await fixture.clock.advance(1_000);
    }
    fixture.kubelet.crash(pod('api-1'));
    await fixture.clock.advance(1_000);
    expect(fixture.logged('deleted a crash-looping pod')).toMatchObject([{ service: apiserver.name }]);
  });
});

describe('a weeder that was suspended beyond the end of a weeding', () => {
  const weedingMs = 60_000;

  beforeEach(async () => {
    fixture.kubelet.endpoints(etcd, false);
    fixture.start({ watchDurationMs: weedingMs });
    await fixture.clock.advance(10_000);
  });

  /** Suspends the weeder until well after the end of a running weeding. */
  const sleep = async (meanwhile: () => void): Promise<void> => {
    const { clock } = fixture;
    const { process: machine } = fixture.weeder();
    machine.suspend();
    await clock.advance(10_000);
    meanwhile();
    await clock.advance(weedingMs);
    await machine.resume(() => clock.settle());
    await clock.advance(30_000);
  };

  it('deletes no pod that crash-looped meanwhile', async () => {
    const { clock, kubelet } = fixture;
    kubelet.run({ namespace: ns, name: 'api-1' });
    kubelet.endpoints(etcd, true);
    await clock.advance(5_000);
    await sleep(() => kubelet.crash({ namespace: ns, name: 'api-1' }));
    expect(kubelet.deleted).toEqual([]);
  });

  it('sends none of its waiting deletes', async () => {
    const { clock, kubelet, line } = fixture;
    const pods = Array.from({ length: 25 }, (_, index) => `api${String(index)}-1`);
    for (const name of pods) kubelet.crash({ namespace: ns, name });
    // The twenty deletes in flight get their responses while the process is suspended.
    line.setFaults(({ method }) => (method === 'DELETE' ? { delayMs: 8_000 } : undefined));
    kubelet.endpoints(etcd, true);
    await clock.advance(5_000);
    await sleep(() => undefined);
    expect(kubelet.deleted).toHaveLength(20);
  });
});
