import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { type PodWorld, containerStatusOf, isLooping, podOf, startPodWorld } from './testing/pods.ts';

const minute = 60_000;
const apiserver = 'kube-apiserver';

/** Records, from now on, the time between each end of the container and its next start, in milliseconds. */
const recordWaits = ({ clock, store, shoot }: PodWorld, name: string): readonly number[] => {
  const waits: number[] = [];
  let endedAt: number | undefined;
  store.subscribe(
    simKinds.Pod,
    ({ object }) => {
      if (object.metadata.name !== name) return;
      const isRunning = containerStatusOf(object)?.state.running !== undefined;
      if (isRunning && endedAt !== undefined) waits.push(Math.round(clock.monotonic() - endedAt));
      if (isRunning) endedAt = undefined;
      else endedAt ??= clock.monotonic();
    },
    shoot.namespace,
  );
  return waits;
};

describe('a container whose dependency is down', () => {
  it('is restarted with increasing delays', async () => {
    const set = startPodWorld();
    const waits = recordWaits(set, podOf(set, apiserver).metadata.name);
    set.shoot.breakEtcd();
    await set.clock.advance(30 * minute);
    expect(waits.slice(0, 9).map((ms) => ms / 1000)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('keeps running if the dependency is back in time', async () => {
    const set = startPodWorld({}, { timing: { probePeriodMs: 1_000 } });
    set.shoot.breakEtcd();
    await set.clock.advance(5_000);
    set.shoot.mendEtcd();
    await set.clock.advance(10 * minute);
    expect(containerStatusOf(podOf(set, apiserver))).toMatchObject({ restartCount: 0, ready: true });
  });

  it.each([
    { minutes: 8, waits: [40, 80] },
    { minutes: 12, waits: [0, 10] },
  ])('waits $waits s after it ran for $minutes minutes', async ({ minutes, waits }) => {
    const set = startPodWorld();
    const { clock, shoot } = set;
    shoot.breakEtcd();
    await set.clock.runUntil(() => containerStatusOf(podOf(set, apiserver))?.restartCount === 2);
    await set.clock.runUntil(() => isLooping(podOf(set, apiserver)));
    shoot.mendEtcd();
    await set.clock.runUntil(() => containerStatusOf(podOf(set, apiserver))?.state.running !== undefined);
    await clock.advance(minutes * minute);
    const found = recordWaits(set, podOf(set, apiserver).metadata.name);
    shoot.breakEtcd();
    await clock.advance(3 * minute);
    expect(found.slice(0, 2).map((ms) => ms / 1000)).toEqual(waits);
  });
});
