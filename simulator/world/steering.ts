import { type SimDraft, type SimKind, type SimObject, type SimStore, simKinds } from '../apiserver/index.ts';

/**
 * Cluster source of the simulated seed. `gardener`: each cluster has Gardener's Cluster, and a Machine for each node. `secret`: a seed
 * without Gardener, which serves neither kind; a Namespace with a Secret is the only sign of a cluster.
 */
export type WorldSource = 'gardener' | 'secret';

const gardenKinds: readonly SimKind[] = [simKinds.Cluster, simKinds.Machine];

/** Returns the kinds that a seed with this source serves: those of `kinds` that exist there. */
export const servedKinds = (source: WorldSource, kinds: readonly SimKind[]): readonly SimKind[] =>
  source === 'gardener' ? kinds : kinds.filter((kind) => !gardenKinds.includes(kind));

/** The object of the seed whose annotations control the simulation of a cluster. */
export interface ControlObject {
  readonly kind: SimKind;
  /** Name of the Cluster, which is also the name of the Namespace. */
  readonly name: string;
}

/** Returns the cluster's Cluster, or its Namespace if there are no Clusters. */
export const controlObjectOf = (source: WorldSource, name: string): ControlObject => ({
  kind: source === 'secret' ? simKinds.Namespace : simKinds.Cluster,
  name,
});

export const annotationOf = (store: SimStore, { kind, name }: ControlObject, key: string): string | undefined =>
  store.get(kind, { name })?.metadata.annotations?.[key];

/** Returns an edit that sets annotations, and removes those that are undefined. */
export const annotated =
  (changes: Readonly<Record<string, string | undefined>>) =>
  (object: SimObject): SimDraft => {
    const merged = Object.entries({ ...object.metadata.annotations, ...changes });
    const annotations = Object.fromEntries(merged.filter(([, value]) => value !== undefined));
    return { ...object, metadata: { ...object.metadata, annotations } };
  };

/** Sets an annotation; without a value, removes it. */
export const annotate = (
  store: SimStore,
  { kind, name }: ControlObject,
  { key, value }: { readonly key: string; readonly value?: string },
): void => void store.patch(kind, { name }, annotated({ [key]: value }));

/** Edits the Shoot in the Cluster of a namespace. */
export const editEmbedded = <Shoot>(store: SimStore, namespace: string, edit: (shoot: Shoot) => Shoot): void => {
  store.patch(simKinds.Cluster, { name: namespace }, (cluster) => {
    const spec = cluster.spec as { readonly shoot: Shoot };
    return { ...cluster, spec: { ...spec, shoot: edit(spec.shoot) } };
  });
};
