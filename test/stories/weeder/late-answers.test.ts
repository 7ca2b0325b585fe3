import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { beginWithoutEtcd, etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { requestKind } from '../../../simulator/network/counting.ts';
import type { RequestFault } from '../../../simulator/network/faults.ts';

const pod = (name: string, owner = name) => ({ namespace: ns, name, owner });

let fixture: WeederFixture;
beforeEach(() => {
  fixture = createWeederFixture();
});
afterEach(() => fixture.stop());

const begin = (): Promise<void> => beginWithoutEtcd(fixture);

/** Sets the faults of deletes by the name of the pod. */
const answerDeletes = (faultOf: (name: string) => RequestFault | undefined): void =>
  fixture.line.setFaults((request) =>
    requestKind(request).verb === 'delete' ? faultOf(request.path.split('/').at(-1) ?? '') : undefined,
  );

/** Creates a crash-looping pod for each deleted pod, at most 50. Returns the function that ends this. */
const recreatePods = (owner: string): (() => void) => {
  let made = 0;
  return fixture.world.store.subscribe(simKinds.Pod, ({ type }) => {
    if (type !== 'DELETED' || made === 50) return;
    made += 1;
    fixture.kubelet.crash(pod(`${owner}-${String(made)}`, owner));
  });
};

describe('responses that arrive after the weeding has ended', () => {
  it('count for that weeding, and not for the next one of the service', async () => {
    await begin();
    fixture.kubelet.crash(pod('api-1'));
    fixture.kubelet.crash(pod('api-2'));
    answerDeletes((name) => ({ delayMs: 3_000, ...(name === 'api-1' ? {} : { then: { status: 500 } }) }));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(500);
    fixture.kubelet.endpoints(etcd, false);
    await fixture.clock.advance(10_000);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(3_500);
    fixture.line.setFaults(undefined);
    await fixture.clock.advance(301_000);
    expect(fixture.logged('weeding ends')).toMatchObject([
      { why: 'not-ready', deleted: 0 },
      { why: 'expired', deleted: 1 },
    ]);
    // Each weeding logs its first failure.
    expect(fixture.logged('deleting failed, trying again').map(({ level }) => level)).toEqual(['error', 'error']);
  });
});

describe('lost responses', () => {
  it('may hide a delete, so the replacement waits for the back-off and the weeder does not cause a crash loop', async () => {
    await begin();
    fixture.kubelet.crash(pod('api-0', 'api'));
    const unsubscribe = recreatePods('api');
    answerDeletes(() => ({ afterWrite: 'reset' }));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(150_000);
    unsubscribe();
    expect(fixture.kubelet.deleted.map((line) => line.split(' at ')[1])).toEqual(['10.0', '20.0', '40.0', '80.0']);
  });
});

describe('responses that take a second each', () => {
  /** Starts a weeding with more pods than the number of deletes in flight at the same time. */
  const beginWithMany = async (): Promise<void> => {
    await begin();
    answerDeletes(() => ({ delayMs: 1_000 }));
    for (let index = 0; index < 60; index += 1) fixture.kubelet.crash(pod(`api-${String(index)}`));
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(1_500);
  };
  const sent = (): number => fixture.line.requests.total({ verb: 'delete', resource: 'pods' });
  const logged = (): number => fixture.logged('deleted a crash-looping pod').length;

  it('leave the unsent deletes of an ended weeding to the next one', async () => {
    await beginWithMany();
    expect([sent(), logged()]).toEqual([40, 20]);
    fixture.kubelet.endpoints(etcd, false);
    await fixture.clock.advance(60_000);
    expect([logged(), fixture.kubelet.deleted.length]).toEqual([40, 40]);
    fixture.kubelet.endpoints(etcd, true);
    await fixture.clock.advance(5_000);
    expect([logged(), fixture.kubelet.deleted.length]).toEqual([60, 60]);
  });

  it('do not make a weeder that stops send its unsent deletes', async () => {
    await beginWithMany();
    await fixture.stopWeeder();
    expect([sent(), logged(), fixture.kubelet.deleted.length]).toEqual([40, 40, 40]);
    expect(fixture.logged('weeding ends')).toMatchObject([{ why: 'stopped', deleted: 40 }]);
    expect(fixture.logged('deleting failed, trying again')).toEqual([]);
  });

  it('delay the deletes of a thousand pods, and none counts as failed', async () => {
    const shoots = Array.from({ length: 100 }, (_, index) => `shoot--${String(index)}`);
    const pods = shoots.flatMap((namespace) =>
      Array.from({ length: 10 }, (_, index) => ({ namespace, name: `api-${String(index)}` })),
    );
    for (const each of pods) fixture.kubelet.crash(each);
    await begin();
    answerDeletes(() => ({ delayMs: 1_000 }));
    for (const namespace of shoots) fixture.kubelet.endpoints({ ...etcd, namespace }, true);
    await fixture.clock.advance(60_000);
    expect(fixture.logged('deleting failed, trying again')).toEqual([]);
    expect(fixture.kubelet.deleted).toHaveLength(1_000);
  });
});
