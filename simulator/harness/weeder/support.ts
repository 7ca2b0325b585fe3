import type { WeederFixture } from './fixture.ts';

// What the tests of this folder share.

export const ns = 'shoot--a';
export const etcd = { namespace: ns, name: 'etcd-main-client' };

/** The weeder has started, etcd is down, and ten seconds have passed. */
export const beginWithoutEtcd = async (fixture: WeederFixture): Promise<void> => {
  fixture.kubelet.endpoints(etcd, false);
  fixture.start();
  await fixture.clock.advance(10_000);
};
