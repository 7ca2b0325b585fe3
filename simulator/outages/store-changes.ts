import type { SimChange, SimKind, SimObject, SimStore } from '../apiserver/index.ts';

/** An object before and after a change; undefined where it does not exist. */
export interface ObjectChange {
  readonly object: SimObject;
  readonly before: SimObject | undefined;
  readonly after: SimObject | undefined;
}

export const changeOf = ({ type, object, previous }: SimChange): ObjectChange => ({
  object,
  before: previous,
  after: type === 'DELETED' ? undefined : object,
});

/** Calls `note` for every existing object, and for every later change. */
export const follow = (store: SimStore, kind: SimKind, note: (change: ObjectChange) => void): void => {
  for (const object of store.list(kind)) note({ object, before: undefined, after: object });
  store.subscribe(kind, (change) => note(changeOf(change)));
};
