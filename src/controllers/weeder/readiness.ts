import type { EndpointSliceView } from '../../domain/index.ts';
import type { ObjectKey, Store, StoreChange } from '../../ports/index.ts';

/** `namespace/service`. */
const serviceKey = ({ namespace, service }: Pick<EndpointSliceView, 'namespace' | 'service'>): string =>
  `${namespace}/${service}`;

/** Readiness of services, each of which may have several EndpointSlices. */
export interface Readiness {
  /** Takes in a change of a slice; returns the services it touches. */
  observe(change: StoreChange<EndpointSliceView>): readonly string[];
  /** Services that have, or had, a slice. */
  keys(): readonly string[];
  /** Without slices, endpoints or ready ones among them, a service is not ready. `wasUnready`: at some time since this was asked last. */
  take(key: string): { readonly ready: boolean; readonly wasUnready: boolean };
}

export const createReadiness = (slices: Store<EndpointSliceView>): Readiness => {
  /** Slices with a ready endpoint, by service. */
  const ready = new Map<string, Set<ObjectKey>>();
  const wasUnready = new Set<string>();

  const set = (key: ObjectKey, slice: EndpointSliceView): string => {
    const service = serviceKey(slice);
    const known = ready.get(service) ?? new Set();
    ready.set(service, slice.ready ? known.add(key) : without(known, key));
    return note(service);
  };

  const remove = (key: ObjectKey, slice: EndpointSliceView): string => {
    const service = serviceKey(slice);
    ready.get(service)?.delete(key);
    return note(service);
  };

  const note = (service: string): string => {
    if (ready.get(service)?.size === 0) wasUnready.add(service);
    return service;
  };

  for (const [key, slice] of slices.entries()) set(key, slice);
  // What is there already came in one step.
  wasUnready.clear();
  return {
    observe: ({ type, key, value, previous }) => {
      if (type === 'deleted') return [remove(key, value)];
      const isMoved = previous !== undefined && serviceKey(previous) !== serviceKey(value);
      // First where it goes to: a slice that moves leaves no gap.
      return [set(key, value), ...(isMoved ? [remove(key, previous)] : [])];
    },
    keys: () => [...ready.keys()],
    take: (key) => {
      const isReady = (ready.get(key)?.size ?? 0) > 0;
      const wasDown = wasUnready.delete(key);
      if (!isReady) ready.delete(key);
      return { ready: isReady, wasUnready: wasDown };
    },
  };
};

const without = <T>(set: Set<T>, value: T): Set<T> => {
  set.delete(value);
  return set;
};
