import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { requestKind } from '../../../simulator/network/counting.ts';
import type { RequestFault } from '../../../simulator/network/faults.ts';

const ns = 'shoot--a';
const etcd = 'etcd-main-client';
const selecting = (key: string, value: string) => [{ matchLabels: { [key]: value }, matchExpressions: [] }];
const namespaces = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `shoot--${String(index)}`);

let fixture: WeederFixture;
beforeEach(() => {
  fixture = createWeederFixture();
});
afterEach(() => fixture.stop());

/** Applies `fault` to the first `count` requests of this kind (`verb resource`). */
const injectFault = (kind: string, fault: RequestFault, count = Number.POSITIVE_INFINITY): void => {
  let left = count;
  fixture.line.setFaults((request) => {
    const { verb, resource } = requestKind(request);
    if (`${verb} ${resource}` !== kind || left === 0) return undefined;
    left -= 1;
    return fault;
  });
};

const becomeReady = (name: string, ...where: readonly string[]): void => {
  for (const namespace of where) fixture.kubelet.endpoints({ namespace, name }, true);
};

/** Starts the weeder while etcd is not ready in these namespaces. */
const begin = async (...where: readonly string[]): Promise<void> => {
  for (const namespace of where) fixture.kubelet.endpoints({ namespace, name: etcd }, false);
  fixture.start();
  await fixture.clock.advance(10_000);
};

/** Makes four services with different selectors ready in nine namespaces: the maximum number of watches before one covers all namespaces. */
const recoverAll = async (before = (): void => undefined): Promise<void> => {
  const roles = ['a', 'b', 'c', 'd'];
  const shoots = namespaces(9);
  fixture.start({ services: roles.map((role) => ({ name: `svc-${role}`, podSelectors: selecting('role', role) })) });
  await fixture.clock.advance(1_000);
  before();
  for (const role of roles) {
    for (const namespace of shoots) fixture.kubelet.crash({ namespace, name: `${role}-1`, labels: { role } });
    becomeReady(`svc-${role}`, ...shoots);
  }
};

describe('watches that get no response', () => {
  it.each(['watch pods', 'watch endpointslices'])('(%s) are given up and reopened', async (kind) => {
    injectFault(kind, 'drop', 1);
    await begin(ns);
    becomeReady(etcd, ns);
    await fixture.clock.advance(5_000);
    fixture.kubelet.crash({ namespace: ns, name: 'api-1' });
    await fixture.clock.advance(35_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
  });

  it('are not retried before a Retry-After has passed', async () => {
    await begin(ns);
    fixture.kubelet.crash({ namespace: ns, name: 'api-1' });
    injectFault('watch pods', { status: 429, retryAfter: 50 });
    becomeReady(etcd, ns);
    await fixture.clock.advance(45_000);
    expect(fixture.line.requests.total({ verb: 'watch', resource: 'pods' })).toBe(1);
    await fixture.clock.advance(10_000);
    expect(fixture.line.requests.total({ verb: 'watch', resource: 'pods' })).toBe(2);
  });

  it('do not block the connections of all others', async () => {
    await recoverAll(() => injectFault('watch pods', 'drop'));
    await fixture.clock.advance(5_000);
    fixture.line.setFaults(undefined);
    await fixture.clock.advance(60_000);
    expect(fixture.kubelet.deleted).toHaveLength(36);
  });
});

describe('watches of single namespaces', () => {
  it('do not wait for the ordinary limit', async () => {
    await recoverAll();
    await fixture.clock.advance(2_000);
    expect(fixture.kubelet.deleted).toHaveLength(36);
  });

  it('are no failures when they are closed, even during their list', async () => {
    await begin(ns);
    injectFault('list pods', { delayMs: 5_000 });
    becomeReady(etcd, ns);
    await fixture.clock.advance(1_000);
    fixture.kubelet.endpoints({ namespace: ns, name: etcd }, false);
    await fixture.clock.advance(10_000);
    expect(fixture.line.requests.total({ verb: 'list', resource: 'pods' })).toBe(1);
    expect(fixture.log.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});

describe('a watch over all namespaces', () => {
  const shoots = namespaces(12);
  const [first = ''] = shoots;
  const podRequests = () => [...fixture.line.requests.byKey].filter(([key]) => key.endsWith(' pods'));

  /** Makes etcd ready in nine shoots, and then in the others. */
  const widen = async (): Promise<void> => {
    becomeReady(etcd, ...shoots.slice(0, 9));
    await fixture.clock.advance(5_000);
    fixture.line.setFaults(({ path, query }) =>
      path === '/api/v1/pods' && query?.watch !== 'true' ? { delayMs: 20_000 } : undefined,
    );
    becomeReady(etcd, ...shoots.slice(9));
    await fixture.clock.advance(1_000);
  };

  it('replaces the others only when its list is complete', async () => {
    await begin(...shoots);
    await widen();
    fixture.kubelet.crash({ namespace: first, name: 'api-1' });
    await fixture.clock.advance(5_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
    await fixture.clock.advance(20_000);
    // Every open watch must send a new request.
    const asking = new Set<string>();
    fixture.line.setFaults(({ path }) => {
      if (path.endsWith('/pods')) asking.add(path);
      return undefined;
    });
    fixture.world.api.setReachability('refused');
    await fixture.clock.advance(5_000);
    fixture.world.api.setReachability('open');
    await fixture.clock.advance(31_000);
    expect([...asking]).toEqual(['/api/v1/pods']);
    for (const namespace of shoots) fixture.kubelet.crash({ namespace, name: 'api-2', owner: 'another' });
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toHaveLength(1 + shoots.length);
  });

  it('is closed if its weedings end before its list is complete', async () => {
    await begin(...shoots);
    await widen();
    fixture.kubelet.endpoints({ namespace: first, name: etcd }, false);
    await fixture.clock.advance(1_000);
    fixture.kubelet.crash({ namespace: first, name: 'api-1' });
    await fixture.clock.advance(400_000);
    expect(fixture.kubelet.deleted).toEqual([]);
    fixture.line.requests.reset();
    await fixture.clock.advance(1_200_000);
    expect(podRequests()).toEqual([]);
  });
});

describe('a pod in two watches', () => {
  const services = [
    { name: 'early', podSelectors: selecting('role', 'apiserver') },
    { name: 'late', podSelectors: selecting('gardener.cloud/role', 'controlplane') },
  ];

  it.each(['early', 'late'])('is judged by its latest state, whichever watch lags (%s)', async (lagging) => {
    fixture.kubelet.run({ namespace: ns, name: 'api-1' });
    fixture.start({ services });
    await fixture.clock.advance(1_000);
    const selector = lagging === 'early' ? 'role=apiserver' : 'gardener.cloud/role=controlplane';
    fixture.line.setFaults(({ query }) =>
      query?.watch === 'true' && query.labelSelector === selector ? 'drop' : undefined,
    );
    for (const { name } of services) {
      becomeReady(name, ns);
      await fixture.clock.advance(1_000);
    }
    fixture.kubelet.crash({ namespace: ns, name: 'api-1' });
    await fixture.clock.advance(1_000);
    expect(fixture.kubelet.deleted).toHaveLength(1);
    expect(fixture.line.requests.total({ verb: 'delete' })).toBe(1);
  });

  it('is not deleted in a loop if a webhook refuses each delete while a watch lags', async () => {
    fixture.kubelet.crash({ namespace: ns, name: 'api-1' });
    fixture.start({ services });
    await fixture.clock.advance(1_000);
    fixture.line.setFaults((request) => {
      if (requestKind(request).verb === 'delete') return { status: 409 };
      const { query } = request;
      return query?.watch === 'true' && query.labelSelector === 'role=apiserver' ? 'drop' : undefined;
    });
    for (const { name } of services) becomeReady(name, ns);
    await fixture.clock.advance(1_000);
    // Only one of the watches shows this state.
    fixture.kubelet.crash({ namespace: ns, name: 'api-1' });
    await fixture.clock.advance(10_000);
    expect(fixture.line.requests.total({ verb: 'delete' })).toBeLessThan(7);
  });
});
