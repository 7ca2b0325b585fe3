import { type SimObject, type SimStore, withPath } from '../apiserver/index.ts';
import type { Steering } from './source.ts';

export const annotationOf = (store: SimStore, { kind, name }: Steering, key: string): string | undefined =>
  store.get(kind, { name })?.metadata.annotations?.[key];

/** Without a value the annotation goes. */
export const annotate = (
  store: SimStore,
  { kind, name }: Steering,
  { key, value }: { readonly key: string; readonly value?: string },
): void => {
  store.patch(kind, { name }, (old) => ({
    ...old,
    metadata: withPath(old.metadata, ['annotations', key], value) as SimObject['metadata'],
  }));
};
