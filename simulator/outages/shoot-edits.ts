import { notManagedByMcm } from '../../src/gardener/node-protobuf.ts';
import { ignoreScalingAnnotation, isHeld } from '../../src/kubernetes/api/scalable.ts';
import { type SimDraft, type SimObject, type SimStore, simKinds } from '../apiserver/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import type { EmbeddedShoot } from './facts.ts';

// What operators, Gardener and machine-controller-manager do to the objects of a shoot.

type Annotations = Readonly<Record<string, string | undefined>>;

const annotated = (object: SimObject, changes: Annotations): SimDraft => {
  const merged = Object.entries({ ...object.metadata.annotations, ...changes });
  const annotations = Object.fromEntries(merged.filter(([, value]) => value !== undefined));
  return { ...object, metadata: { ...object.metadata, annotations } };
};

export const editEmbedded = (
  world: World,
  { namespace }: WorldShoot,
  edit: (shoot: EmbeddedShoot) => EmbeddedShoot,
): void => {
  world.store.patch(simKinds.Cluster, { name: namespace }, (cluster) => {
    const spec = cluster.spec as { readonly shoot: EmbeddedShoot };
    return { ...cluster, spec: { ...spec, shoot: edit(spec.shoot) } };
  });
};

export const setIgnoreScaling = (
  world: World,
  { namespace }: WorldShoot,
  { deployment, value }: { readonly deployment: string; readonly value: string | undefined },
): void => {
  world.store.patch(simKinds.Deployment, { namespace, name: deployment }, (old) =>
    annotated(old, { [ignoreScalingAnnotation]: value }),
  );
};

const replicasOf = ({ spec }: SimObject): number => (spec as { readonly replicas?: number }).replicas ?? 1;

const withReplicas = (object: SimObject, replicas: number): SimDraft => ({
  ...object,
  spec: { ...(object.spec as object), replicas },
});

/** As a HorizontalPodAutoscaler, which leaves alone what is at 0. */
export const autoscale = (
  { store }: World,
  { namespace }: WorldShoot,
  { deployment, replicas }: { readonly deployment: string; readonly replicas: number },
): void => {
  store.patch(simKinds.Deployment, { namespace, name: deployment }, (old) =>
    replicasOf(old) > 0 ? withReplicas(old, replicas) : old,
  );
};

/** As Gardener: what carries the mark of meltdown protection is left to the watchdog. */
export const setCounts = (
  { store }: World,
  { namespace }: WorldShoot,
  counts: Readonly<Record<string, number>>,
): void => {
  for (const [name, replicas] of Object.entries(counts)) {
    store.patch(simKinds.Deployment, { namespace, name }, (old) =>
      isHeld({ annotations: old.metadata.annotations ?? {} }) ? old : withReplicas(old, replicas),
    );
  }
};

const nodeNames = ({ store }: WorldShoot, numbers: readonly number[]): readonly string[] => {
  const nodes = store.list(simKinds.Node);
  return numbers.flatMap((number) => nodes[number]?.metadata.name ?? []);
};

export const failMachines = ({ store }: World, shoot: WorldShoot, nodes: readonly number[]): void => {
  for (const name of nodeNames(shoot, nodes)) {
    store.patch(simKinds.Machine, { namespace: shoot.namespace, name }, (old) => {
      const status = old.status as { readonly currentStatus?: object };
      return { ...old, status: { ...status, currentStatus: { ...status.currentStatus, phase: 'Failed' } } };
    });
  }
};

/** Returns what gives them back. */
export const disown = (shoot: WorldShoot, nodes: readonly number[]): (() => void) => {
  const names = nodeNames(shoot, nodes);
  const mark = (value: string | undefined): void => {
    for (const name of names) {
      shoot.store.patch(simKinds.Node, { name }, (old) => annotated(old, { [notManagedByMcm]: value }));
    }
  };
  mark('1');
  return () => mark(undefined);
};

/** Returns what heals them. */
export const sicken = (shoot: WorldShoot, nodes: readonly number[]): (() => void) => {
  const names = nodeNames(shoot, nodes);
  const type = 'KernelDeadlock';
  const change = (isSick: boolean): void => {
    for (const name of names) {
      shoot.store.patch(simKinds.Node, { name }, (old) => {
        const status = old.status as { readonly conditions: readonly { readonly type: string }[] };
        const others = status.conditions.filter((condition) => condition.type !== type);
        const conditions = isSick ? [...others, { type, status: 'True', reason: 'Simulated' }] : others;
        return { ...old, status: { ...status, conditions } };
      });
    }
  };
  change(true);
  return () => change(false);
};

/** Lets the clocks of nodes be wrong by as many milliseconds as `offsetOf` says of each. */
export const skewNodes = (store: SimStore, offsetOf: (node: string) => number): void => {
  const written = new Map<string, string>();
  store.subscribe(
    simKinds.Lease,
    ({ type, object }) => {
      const { name, namespace = '' } = object.metadata;
      const { renewTime } = object.spec as { readonly renewTime: string };
      const offset = offsetOf(name);
      if (type === 'DELETED' || offset === 0 || written.get(name) === renewTime) return;
      const wrong = new Date(Date.parse(renewTime) + offset).toISOString().replace('Z', '000Z');
      written.set(name, wrong);
      store.patch(simKinds.Lease, { namespace, name }, (old) => ({
        ...old,
        spec: { ...(old.spec as object), renewTime: wrong },
      }));
    },
    'kube-node-lease',
  );
};
