import { ignoreScalingAnnotation } from '../../src/annotations/scaling-annotations.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type JsonMap, type SimKind, type SimObject, simKinds } from '../apiserver/index.ts';
import { type World, type WorldSource, createWorld, serveWorld } from '../world/index.ts';
import { demoShoots, demoTiming, demoWorldSeed, shootsOfSeed, twinName } from './setting.ts';

type Metadata = SimObject['metadata'];

/** Removes the label that the weeder's selectors require. */
const withoutRole = (metadata: Metadata): Metadata => {
  const { 'gardener.cloud/role': _, ...labels } = metadata.labels ?? {};
  return { ...metadata, labels };
};

/** Removes that label from the pod template, from which later pods are created. */
const withoutRoleInTemplate = (spec: unknown): JsonMap => {
  const { template, ...others } = spec as { readonly template: { readonly metadata: Metadata } };
  return { ...others, template: { ...template, metadata: withoutRole(template.metadata) } };
};

/** Excludes a shoot from both watchdogs: from the prober by an annotation on its Deployments, from the weeder by removing a label of its pods. */
export const leaveUnprotected = (world: World, name: string): void => {
  const { store } = world;
  const { namespace } = world.shoot(name);
  const patchAll = (kind: SimKind, change: (old: SimObject) => SimObject): void => {
    for (const { metadata } of store.list(kind, namespace)) store.patch(kind, metadata, change);
  };
  patchAll(simKinds.Deployment, ({ metadata, ...old }) => ({
    ...old,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [ignoreScalingAnnotation]: 'true' } },
  }));
  patchAll(simKinds.ReplicaSet, (old) => ({ ...old, spec: withoutRoleInTemplate(old.spec) }));
  patchAll(simKinds.Pod, (old) => ({ ...old, metadata: withoutRole(old.metadata) }));
};

/** The demo's simulated seed, served on the loopback interface. */
export interface ServedDemoWorld {
  readonly world: World;
  /** Kubeconfigs of the seed and of the shoots that the demo looks at, by name. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

interface DemoWorldOptions {
  readonly clock: Clock;
  /** Default: gardener. */
  readonly source?: WorldSource;
  /** Number of shoots. Default: those of the demo. */
  readonly shoots?: number;
}

/** Creates the world and serves it over HTTPS, in this process and on `clock`. */
export const openWorld = async ({
  clock,
  source = 'gardener',
  shoots: count = 0,
}: DemoWorldOptions): Promise<ServedDemoWorld> => {
  const world = createWorld({
    ...{ clock, source, seed: demoWorldSeed, timing: demoTiming },
    shoots: shootsOfSeed(count),
  });
  leaveUnprotected(world, twinName);
  const served = await serveWorld(world, clock.now());
  return {
    world,
    kubeconfigs: new Map([
      ['seed', served.kubeconfig],
      ...demoShoots.map(({ name }) => [name, world.shoot(name).api.kubeconfig()] as const),
    ]),
    close: async () => {
      world.stop();
      await served.close();
    },
  };
};
