import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WeederFixture, createWeederFixture } from '../../../simulator/harness/weeder/fixture.ts';
import { etcd, ns } from '../../../simulator/harness/weeder/support.ts';

const weedingMs = 60_000;

let fixture: WeederFixture;
beforeEach(async () => {
  fixture = createWeederFixture();
  fixture.kubelet.endpoints(etcd, false);
  fixture.start({ watchDurationMs: weedingMs });
  await fixture.clock.advance(10_000);
});
afterEach(() => fixture.stop());

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

it('a weeder suspended beyond the end of a weeding deletes no pod that crash-looped meanwhile', async () => {
  const { clock, kubelet } = fixture;
  kubelet.run({ namespace: ns, name: 'api-1' });
  kubelet.endpoints(etcd, true);
  await clock.advance(5_000);
  await sleep(() => kubelet.crash({ namespace: ns, name: 'api-1' }));
  expect(kubelet.deleted).toEqual([]);
});

it('a weeder suspended beyond the end of a weeding sends none of its waiting deletes', async () => {
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
