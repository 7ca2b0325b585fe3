import { type SimDraft, type SimObject, type SimStore, simKinds } from '../apiserver/index.ts';
import type { ControlObject } from './source.ts';

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
