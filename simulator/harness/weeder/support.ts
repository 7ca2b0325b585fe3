import type { WeederFixture } from './fixture.ts';

// Shared by the tests of the weeder.

export const ns = 'shoot--a';
export const etcd = { namespace: ns, name: 'etcd-main-client' };

/** Starts the weeder while etcd is down, and lets ten seconds pass. */
export const beginWithoutEtcd = async (fixture: WeederFixture): Promise<void> => {
  fixture.kubelet.endpoints(etcd, false);
  fixture.start();
  await fixture.clock.advance(10_000);
};
