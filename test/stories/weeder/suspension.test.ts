import { expect, it } from 'vitest';
import { startReplica, weeder as component } from '../../../simulator/harness/replica.ts';
import { weederSettings } from '../../../simulator/harness/weeder/fixture.ts';
import { startKubelet } from '../../../simulator/harness/weeder/kubelet.ts';
import { etcd, ns } from '../../../simulator/harness/weeder/support.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createWorld } from '../../../simulator/world/world.ts';

const weedingMs = 60_000;

/** Starts a weeder in a process that can be suspended, in a seed whose etcd is not ready. */
const begin = async () => {
  const clock = createVirtualClock();
  const world = createWorld({ clock, shoots: [] });
  const kubelet = startKubelet(world.store, clock);
  kubelet.endpoints(etcd, false);
  const weeder = startReplica(
    component,
    { world, clock },
    { settings: { ...weederSettings, watchDurationMs: weedingMs } },
  );
  await clock.advance(10_000);
  return {
    clock,
    kubelet,
    weeder,
    /** Suspends the weeder until well after the end of a running weeding. */
    sleep: async (meanwhile: () => void) => {
      weeder.process.suspend();
      await clock.advance(10_000);
      meanwhile();
      await clock.advance(weedingMs);
      await weeder.process.resume(() => clock.settle());
      await clock.advance(30_000);
    },
    stop: async () => {
      weeder.stop();
      await clock.run(weeder.ended);
      world.stop();
    },
  };
};

it('a weeder suspended beyond the end of a weeding deletes no pod that crash-looped meanwhile', async () => {
  const { clock, kubelet, sleep, stop } = await begin();
  kubelet.run({ namespace: ns, name: 'api-1' });
  kubelet.endpoints(etcd, true);
  await clock.advance(5_000);
  await sleep(() => kubelet.crash({ namespace: ns, name: 'api-1' }));
  expect(kubelet.deleted).toEqual([]);
  await stop();
});

it('a weeder suspended beyond the end of a weeding sends none of its waiting deletes', async () => {
  const { clock, kubelet, weeder, sleep, stop } = await begin();
  const pods = Array.from({ length: 25 }, (_, index) => `api${String(index)}-1`);
  for (const name of pods) kubelet.crash({ namespace: ns, name });
  // The twenty deletes in flight get their responses while the process is suspended.
  weeder.seedConnection.setFaults(({ method }) => (method === 'DELETE' ? { delayMs: 8_000 } : undefined));
  kubelet.endpoints(etcd, true);
  await clock.advance(5_000);
  await sleep(() => undefined);
  expect(kubelet.deleted).toHaveLength(20);
  await stop();
});
