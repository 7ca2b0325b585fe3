import { serviceNameLabel } from '../../src/kubernetes/api/endpoint-slice.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type SimDraft, simKinds } from '../apiserver/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import { type End, type FaultOf, type Handlers, inShoot, repeat, shootsOf } from './faults.ts';
import type { StrayPod } from './plan.ts';

/** Name of the only container of each stray pod. */
const stray = 'stray';

const strayPod = (namespace: string, name: string, what: StrayPod): SimDraft => {
  const labels = { app: what === 'stranger' ? 'stranger' : 'kubernetes', role: stray };
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `owner-of-${name}` };
  return {
    metadata: {
      name,
      namespace,
      labels: what === 'stranger' ? labels : { ...labels, 'gardener.cloud/role': 'controlplane' },
      ownerReferences: [{ ...owner, controller: what !== 'unowned' }],
    },
    spec: {
      nodeName: 'node',
      containers: [{ name: stray, image: 'simulated/stray:v1' }],
      terminationGracePeriodSeconds: 5,
    },
  };
};

const loseSlices = ({ store }: World, { namespace }: WorldShoot, service: string): End => {
  const slices = store
    .list(simKinds.EndpointSlice, namespace)
    .filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === service);
  for (const { metadata } of slices) store.remove(simKinds.EndpointSlice, metadata);
  return () => {
    for (const slice of slices) {
      if (store.get(simKinds.EndpointSlice, slice.metadata) === undefined) store.put(simKinds.EndpointSlice, slice);
    }
  };
};

/** Faults of pods and services of control planes. */
export const podFaults = (world: World, clock: Clock): Handlers<'etcd' | 'crash' | 'no-slices' | 'stray-pod'> => {
  /** Components whose programs exit, by shoot. */
  const crashing = new Map<string, string[]>();
  /** Number of active faults that keep etcd down, by shoot. */
  const away = new Map<string, number>();
  let strays = 0;

  const keepEtcdAway = (shoot: WorldShoot, by: 1 | -1): void => {
    const count = (away.get(shoot.name) ?? 0) + by;
    away.set(shoot.name, count);
    if (count > 0) shoot.breakEtcd();
    else shoot.mendEtcd();
  };

  const loseEtcd = ({ shoot: name, everyMs }: FaultOf<'etcd'>): End => {
    let isAway = false;
    const set = (next: boolean): void => {
      if (next === isAway) return;
      isAway = next;
      for (const shoot of shootsOf(world, name)) keepEtcdAway(shoot, next ? 1 : -1);
    };
    const stop = everyMs === undefined ? undefined : repeat(clock, everyMs, () => set(!isAway));
    if (stop === undefined) set(true);
    return () => {
      stop?.();
      set(false);
    };
  };

  const crash = (shoot: WorldShoot, component: string): End => {
    const all = crashing.get(shoot.name) ?? [];
    crashing.set(shoot.name, all);
    all.push(component);
    shoot.crash(all);
    return () => {
      all.splice(all.indexOf(component), 1);
      shoot.crash(all);
    };
  };

  return {
    etcd: loseEtcd,
    crash: inShoot(world, (shoot, { component }) => crash(shoot, component)),
    'no-slices': inShoot(world, (shoot, { service }) => loseSlices(world, shoot, service)),
    'stray-pod': inShoot(world, (shoot, { what }) => {
      strays += 1;
      const [{ namespace }, name] = [shoot, `stray-${String(strays)}`];
      const stopCrashing = crash(shoot, stray);
      world.store.put(simKinds.Pod, strayPod(namespace, name, what));
      return async () => {
        world.store.remove(simKinds.Pod, { namespace, name });
        await stopCrashing();
      };
    }),
  };
};
