import { type SimObject, type SimStore, withPath } from '../apiserver/index.ts';
import type { ControlObject } from './source.ts';

export const annotationOf = (store: SimStore, { kind, name }: ControlObject, key: string): string | undefined =>
  store.get(kind, { name })?.metadata.annotations?.[key];

/** Sets an annotation; without a value, removes it. */
export const annotate = (
  store: SimStore,
  { kind, name }: ControlObject,
  { key, value }: { readonly key: string; readonly value?: string },
): void => {
  store.patch(kind, { name }, (old) => ({
    ...old,
    metadata: withPath(old.metadata, ['annotations', key], value) as SimObject['metadata'],
  }));
};
