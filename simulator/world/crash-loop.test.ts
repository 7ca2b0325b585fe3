import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import { formatTime } from '../apiserver/time.ts';
import { type PodWorld, containerStatusOf, isLooping, podOf, readyReplicas, startPodWorld } from './testing/pods.ts';

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

  it('shows CrashLoopBackOff while it waits, with its last termination and its restart count', async () => {
    const set = startPodWorld();
    set.shoot.breakEtcd();
    await set.clock.runUntil(() => containerStatusOf(podOf(set, apiserver))?.restartCount === 5);
    await set.clock.runUntil(() => isLooping(podOf(set, apiserver)));
    const pod = podOf(set, apiserver);
    const { uid, name, namespace } = pod.metadata;
    expect(containerStatusOf(pod)).toMatchObject({
      name: apiserver,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: `back-off 2m40s restarting failed container=${apiserver} pod=${name}_${String(namespace)}(${uid})`,
        },
      },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
      ready: false,
      restartCount: 5,
    });
    const finishedAt = formatTime(set.clock.now());
    expect(containerStatusOf(pod)?.lastState).toMatchObject({ terminated: { finishedAt } });
    expect(pod.status).toMatchObject({ phase: 'Running' });
    expect(readyReplicas(set, apiserver)).toBe(0);
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

describe('a pod that is already running when its kubelet first sees it', () => {
  it('keeps its state and is probed', async () => {
    const set = startPodWorld();
    const { clock, shoot, store } = set;
    const { spec, status } = podOf(set, apiserver);
    const [running] = (status as { containerStatuses: object[] }).containerStatuses;
    const metadata = { name: 'by-hand', namespace: shoot.namespace };
    const containerStatuses = [{ ...running, ready: false, restartCount: 3 }];
    store.put(simKinds.Pod, { metadata, spec, status: { containerStatuses } });
    await clock.advance(10_000);
    expect(containerStatusOf(store.get(simKinds.Pod, metadata)!)).toEqual({ ...running, ready: true, restartCount: 3 });
  });
});

describe('a pod that is deleted while its container is about to exit', () => {
  it('does not restart the container', async () => {
    const set = startPodWorld({}, { timing: { podEndMs: 60_000 } });
    const { clock, shoot, store } = set;
    const { metadata } = podOf(set, apiserver);
    shoot.breakEtcd();
    await clock.advance(5_000);
    store.delete(simKinds.Pod, metadata);
    await clock.advance(2_000);
    shoot.mendEtcd();
    shoot.breakEtcd();
    await clock.advance(20_000);
    expect(containerStatusOf(store.get(simKinds.Pod, metadata)!)).toMatchObject({ restartCount: 0, lastState: {} });
  });
});

describe('a crash-looping pod that is deleted', () => {
  const loop = async (): Promise<PodWorld> => {
    const set = startPodWorld();
    set.shoot.breakEtcd();
    await set.clock.runUntil(() => containerStatusOf(podOf(set, apiserver))?.restartCount === 6);
    await set.clock.runUntil(() => isLooping(podOf(set, apiserver)));
    return set;
  };

  it('has a replacement that starts at once, with a new back-off', async () => {
    const set = await loop();
    const { clock, store } = set;
    const before = podOf(set, apiserver);
    store.delete(simKinds.Pod, before.metadata);
    // The new pod starts after at most 1.2 times 8 s; the old one ends meanwhile.
    await clock.advance(9_600);
    const after = podOf(set, apiserver);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.metadata.name).not.toBe(before.metadata.name);
    expect(containerStatusOf(after)).toMatchObject({ restartCount: 0, state: { running: {} }, lastState: {} });
    const waits = recordWaits(set, after.metadata.name);
    await clock.advance(2 * minute);
    expect(waits.slice(0, 3).map((ms) => ms / 1000)).toEqual([0, 10, 20]);
  });

  it('has a replacement that is ready one probe after its start, if etcd is ready', async () => {
    const set = await loop();
    const { clock, shoot, store } = set;
    shoot.mendEtcd();
    await clock.advance(10_000);
    expect(isLooping(podOf(set, apiserver))).toBe(true);
    store.delete(simKinds.Pod, podOf(set, apiserver).metadata);
    await clock.advance(9_600);
    expect(readyReplicas(set, apiserver)).toBe(0);
    await clock.advance(10_000);
    expect(readyReplicas(set, apiserver)).toBe(1);
  });
});
