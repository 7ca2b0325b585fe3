import { simKinds } from '../../apiserver/kinds.ts';
import type { SimObject } from '../../apiserver/object.ts';
import type { SimStore } from '../../apiserver/store.ts';
import { type VirtualClock, createVirtualClock } from '../../time/clock.ts';
import type { ShootInit } from '../objects.ts';
import type { WorldShoot } from '../shoot.ts';
import { type World, type WorldOptions, createWorld } from '../world.ts';

export interface PodWorld {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly shoot: WorldShoot;
  /** Store of the seed. */
  readonly store: SimStore;
}

/** Creates a world with one shoot, `a`, whose control plane has pods. */
export const startPodWorld = (shoot: Partial<ShootInit> = {}, options: Pick<WorldOptions, 'timing'> = {}): PodWorld => {
  const clock = createVirtualClock();
  const shoots = [{ name: 'a', nodes: 1, controlPlanePods: true, ...shoot }];
  const world = createWorld({ clock, seed: 0, shoots, ...options });
  return { clock, world, shoot: world.shoot('a'), store: world.store };
};

export interface ContainerStatus {
  readonly state: {
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason: string; readonly message: string };
    readonly terminated?: object;
  };
  readonly lastState: object;
  readonly ready: boolean;
  readonly restartCount: number;
}

/** Returns the status of the pod's container; undefined before its first start. */
export const containerStatusOf = (pod: SimObject): ContainerStatus | undefined =>
  (pod.status as { containerStatuses?: readonly ContainerStatus[] }).containerStatuses?.[0];

export const isLooping = (pod: SimObject): boolean =>
  containerStatusOf(pod)?.state.waiting?.reason === 'CrashLoopBackOff';

/** Pods of a component, sorted by name. */
export const podsOf = ({ store, shoot }: PodWorld, component: string): readonly SimObject[] =>
  store.list(simKinds.Pod, shoot.namespace).filter(({ metadata }) => metadata.name.startsWith(`${component}-`));

/** The only pod of a component. */
export const podOf = (set: PodWorld, component: string): SimObject => {
  const [pod, ...more] = podsOf(set, component);
  if (pod === undefined || more.length > 0) throw new Error(`${component} has ${more.length + 1} pods, or none`);
  return pod;
};

export const readyReplicas = ({ store, shoot }: PodWorld, name: string): number => {
  const deployment = store.get(simKinds.Deployment, { namespace: shoot.namespace, name });
  return (deployment?.status as { readyReplicas?: number } | undefined)?.readyReplicas ?? 0;
};

/** State of each endpoint of a service: `ready` or `not ready`, with `ending` if it terminates; undefined if the service has no slice. */
export const endpointsOf = ({ store, shoot }: PodWorld, service: string): readonly string[] | undefined => {
  const slices = store
    .list(simKinds.EndpointSlice, shoot.namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service);
  if (slices.length === 0) return undefined;
  const endpoints = slices.flatMap((slice) => (slice.endpoints ?? []) as { conditions: Record<string, boolean> }[]);
  return endpoints.map(
    ({ conditions: { ready, terminating } }) => `${ready ? 'ready' : 'not ready'}${terminating ? ', ending' : ''}`,
  );
};
