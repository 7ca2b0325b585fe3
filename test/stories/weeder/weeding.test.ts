import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type WeederBench, createWeederBench } from '../../../simulator/harness/weeder/bench.ts';
import { schedulerLabels } from '../../../simulator/harness/weeder/kubelet.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { requestKind } from '../../../simulator/network/counting.ts';

const apiserver = { namespace: ns, name: 'kube-apiserver' };
const pod = (name: string, owner?: string | null) => ({
  namespace: ns,
  name,
  ...(owner === undefined ? {} : { owner }),
});

let bench: WeederBench;
beforeEach(() => {
  bench = createWeederBench();
});
afterEach(() => bench.stop());

const begin = (): Promise<void> => beginWithoutEtcd(bench);

const ends = (): readonly unknown[] => bench.told('weeding ends').map(({ why, deleted }) => [why, deleted]);

describe('the life of a weeding', () => {
  it('starts when the service becomes ready, deletes pods that crash-loop then and later, and ends after watchDuration', async () => {
    bench.kubelet.crash(pod('api-1'));
    bench.kubelet.run(pod('api-2', 'other'));
    await begin();
    expect(bench.kubelet.deleted).toEqual([]);
    bench.kubelet.endpoints(etcd, false, true);
    await bench.clock.advance(60_000);
    expect(bench.kubelet.deleted).toEqual([`${ns}/api-1 at 10.0`]);
    bench.kubelet.crash(pod('api-2', 'other'));
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted.slice(1)).toEqual([`${ns}/api-2 at 70.0`]);
    await bench.clock.advance(300_000);
    expect(ends()).toEqual([['expired', 2]]);
    bench.kubelet.crash(pod('api-3', 'third'));
    await bench.clock.advance(60_000);
    expect(bench.kubelet.deleted).toHaveLength(2);
    expect(bench.told('deleted a crash-looping pod')).toMatchObject([
      { namespace: ns, pod: 'api-1', containers: ['main'], service: 'etcd-main-client' },
      { pod: 'api-2', service: 'etcd-main-client' },
    ]);
  });

  it('is the only time in which pods are watched', async () => {
    await begin();
    await bench.clock.advance(600_000);
    expect(bench.line.requests.total({ resource: 'pods' })).toBe(0);
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(301_000);
    expect([...bench.line.requests.byKey].filter(([key]) => key.endsWith(' pods'))).toEqual([
      ['list pods', 1],
      ['watch pods', 1],
    ]);
    bench.line.requests.reset();
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(1_200_000);
    expect(bench.line.requests.total({ resource: 'pods' })).toBe(0);
  });

  it('starts again when the service is lost and becomes ready again', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(200_000);
    bench.kubelet.endpoints(etcd, false);
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(200_000);
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
    expect(ends()).toEqual([['not-ready', 0]]);
    expect(bench.told('weeding starts: the service is ready')).toHaveLength(2);
  });

  it('ends when the service is lost: a pod that cannot start is not deleted', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(30_000);
    bench.kubelet.endpoints(etcd, false);
    await bench.clock.advance(1_000);
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(60_000);
    expect(bench.kubelet.deleted).toEqual([]);
    expect(ends()).toEqual([['not-ready', 0]]);
  });

  it('is neither started nor prolonged by deleted slices', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(1_000);
    bench.kubelet.removeEndpoints(etcd);
    await bench.clock.advance(1_000);
    expect(ends()).toEqual([['not-ready', 0]]);
    expect(bench.told('weeding starts: the service is ready')).toHaveLength(1);
  });
});

describe('pods', () => {
  it('that recover just before the delete are skipped, and deleted if they crash again', async () => {
    await begin();
    bench.kubelet.crash(pod('api-1'));
    // Its kubelet is faster than our request.
    let recoveries = 0;
    bench.line.setFaults((request) => {
      if (requestKind(request).verb !== 'delete' || recoveries > 0) return undefined;
      recoveries += 1;
      bench.kubelet.run(pod('api-1'));
      return undefined;
    });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(30_000);
    expect(recoveries).toBe(1);
    expect(bench.kubelet.deleted).toEqual([]);
    expect(bench.told('not deleted: the pod has changed')).toHaveLength(1);
    expect(bench.told('deleting failed, trying again')).toEqual([]);
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('that keep crashing after they were replaced are deleted after 10, 20, 40, 80 and 80 s', async () => {
    await begin();
    bench.kubelet.crash(pod('api-0'));
    let made = 0;
    const unsubscribe = bench.world.store.subscribe(simKinds.Pod, ({ type }) => {
      if (type !== 'DELETED') return;
      made += 1;
      bench.kubelet.crash(pod(`api-${String(made)}`));
    });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(290_000);
    unsubscribe();
    expect(bench.kubelet.deleted).toEqual(
      [10, 20, 40, 80, 160, 240].map((second, index) => `${ns}/api-${String(index)} at ${second.toFixed(1)}`),
    );
  });

  it('of several replicas are deleted together', async () => {
    await begin();
    for (const name of ['api-1', 'api-2', 'api-3']) bench.kubelet.crash(pod(name));
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(1_000);
    expect(bench.kubelet.deleted).toHaveLength(3);
  });

  it('without a controller owner are skipped, which is logged once', async () => {
    await begin();
    bench.kubelet.crash(pod('lonely', null));
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(30_000);
    bench.kubelet.run(pod('lonely', null));
    bench.kubelet.crash(pod('lonely', null));
    await bench.clock.advance(30_000);
    expect(bench.kubelet.deleted).toEqual([]);
    expect(bench.told('left alone: no controller owns the pod, so nobody would bring it back')).toMatchObject([
      { pod: 'lonely' },
    ]);
  });

  it('of another service, namespace or label are not deleted', async () => {
    await begin();
    bench.kubelet.crash({ ...pod('sched-1'), labels: schedulerLabels });
    bench.kubelet.crash({ ...pod('api-1'), namespace: 'shoot--b' });
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(30_000);
    expect(bench.kubelet.deleted).toEqual([]);
  });

  it('that two services and two selectors match are deleted once', async () => {
    const both = [
      { matchLabels: { role: 'apiserver' }, matchExpressions: [] },
      { matchLabels: { 'gardener.cloud/role': 'controlplane' }, matchExpressions: [] },
    ];
    bench.kubelet.endpoints(etcd, false);
    bench.kubelet.endpoints(apiserver, false);
    bench.kubelet.crash(pod('api-1'));
    bench.start({ services: [etcd.name, apiserver.name].map((name) => ({ name, podSelectors: both })) });
    await bench.clock.advance(10_000);
    bench.kubelet.endpoints(etcd, true);
    bench.kubelet.endpoints(apiserver, true);
    await bench.clock.advance(30_000);
    expect(bench.line.requests.total({ verb: 'delete', resource: 'pods' })).toBe(1);
    expect(bench.kubelet.deleted).toHaveLength(1);
  });

  it('of an owner wait for its back-off, even if the service is not ready for most of it', async () => {
    await begin();
    bench.kubelet.endpoints(etcd, true);
    for (const [index, second] of [10, 20, 40, 80].entries()) {
      await bench.clock.advance(second * 1_000 - bench.clock.monotonic());
      bench.kubelet.crash(pod(`api-${String(index)}`));
      await bench.clock.advance(1_000);
    }
    bench.kubelet.endpoints(etcd, false);
    await bench.clock.advance(65_000);
    bench.kubelet.crash(pod('api-4'));
    bench.kubelet.endpoints(etcd, true);
    await bench.clock.advance(60_000);
    expect(bench.kubelet.deleted.map((line) => line.split(' at ')[1])).toEqual([
      '10.0',
      '20.0',
      '40.0',
      '80.0',
      '160.0',
    ]);
  });

  it('that two services select count for the one that became ready last', async () => {
    const podSelectors = [{ matchLabels: { role: 'apiserver' }, matchExpressions: [] }];
    bench.start({ services: [apiserver.name, etcd.name].map((name) => ({ name, podSelectors })) });
    await bench.clock.advance(1_000);
    for (const service of [etcd, apiserver]) {
      bench.kubelet.endpoints(service, true);
      await bench.clock.advance(1_000);
    }
    bench.kubelet.crash(pod('api-1'));
    await bench.clock.advance(1_000);
    expect(bench.told('deleted a crash-looping pod')).toMatchObject([{ service: apiserver.name }]);
  });

  it('of an owner wait for its back-off in a new weeding, too: a flapping service deletes no faster', async () => {
    await begin();
    let made = 0;
    bench.kubelet.crash(pod('api-0'));
    const unsubscribe = bench.world.store.subscribe(simKinds.Pod, ({ type }) => {
      if (type !== 'DELETED') return;
      made += 1;
      bench.kubelet.crash(pod(`api-${String(made)}`));
    });
    for (let flap = 0; flap < 10; flap += 1) {
      bench.kubelet.endpoints(etcd, true);
      await bench.clock.advance(2_000);
      bench.kubelet.endpoints(etcd, false);
      await bench.clock.advance(1_000);
    }
    unsubscribe();
    expect(bench.kubelet.deleted.length).toBeLessThanOrEqual(2);
  });
});
