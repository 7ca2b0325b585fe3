import { type SimObject, type SimStore, simKinds, withPath } from '../apiserver/index.ts';

export const annotationOf = (store: SimStore, cluster: string, key: string): string | undefined =>
  store.get(simKinds.Cluster, { name: cluster })?.metadata.annotations?.[key];

/** Without a value the annotation goes. */
export const annotateCluster = (
  store: SimStore,
  cluster: string,
  { key, value }: { readonly key: string; readonly value?: string },
): void => {
  store.patch(simKinds.Cluster, { name: cluster }, (old) => ({
    ...old,
    metadata: withPath(old.metadata, ['annotations', key], value) as SimObject['metadata'],
  }));
};
