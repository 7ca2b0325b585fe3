import type { WeederBench } from './bench.ts';

// What the tests of this folder share.

export const ns = 'shoot--a';
export const etcd = { namespace: ns, name: 'etcd-main-client' };

/** The weeder has started, etcd is down, and ten seconds have passed. */
export const beginWithoutEtcd = async (bench: WeederBench): Promise<void> => {
  bench.kubelet.endpoints(etcd, false);
  bench.start();
  await bench.clock.advance(10_000);
};
