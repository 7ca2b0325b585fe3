import type { EndpointSliceView } from '../kubernetes/api/endpoint-slice.ts';
import type { ObjectKey, Store, StoreChange } from '../kubernetes/cache/index.ts';

/** Key of a service: `namespace/service`. */
const serviceKey = ({ namespace, service }: Pick<EndpointSliceView, 'namespace' | 'service'>): string =>
  `${namespace}/${service}`;

type Slices = ReadonlyMap<ObjectKey, EndpointSliceView>;

const ownOf = (slices: Slices): readonly EndpointSliceView[] =>
  [...slices.values()].filter(({ mirrored }) => !mirrored);

const isReady = (slices: Slices): boolean => {
  const own = ownOf(slices);
  return (own.length > 0 ? own : [...slices.values()]).some(({ ready }) => ready);
};

/**
 * Readiness of services. A service may have several EndpointSlices, and is ready if one of them has a ready endpoint. Slices that are mirrored from an
 * Endpoints object count only if the service has no other: they stay, ready for ever, if that object is forgotten.
 */
export class ServiceReadiness {
  readonly #slices = new Map<string, Map<ObjectKey, EndpointSliceView>>();
  readonly #wasUnready = new Set<string>();

  constructor(slices: Store<EndpointSliceView>) {
    for (const [key, slice] of slices.entries()) this.#set(key, slice);
    // The first list shows a single state, so no service was unready before it.
    this.#wasUnready.clear();
  }

  /** Applies a change of a slice. Returns the keys of the services that it affects. */
  observe({ type, key, value, previous }: StoreChange<EndpointSliceView>): readonly string[] {
    if (type === 'deleted') return [this.#remove(key, value)];
    const isMoved = previous !== undefined && serviceKey(previous) !== serviceKey(value);
    // Add the slice to the new service first, so that a move leaves no gap.
    return [this.#set(key, value), ...(isMoved ? [this.#remove(key, previous)] : [])];
  }

  /** Keys of the services with a slice, and of those that lost their last slice since their last `take`. */
  keys(): readonly string[] {
    return [...this.#slices.keys()];
  }

  /** Returns the readiness of a service. `wasUnready`: at some time since the last `take` it was not ready. */
  take(key: string): { readonly ready: boolean; readonly wasUnready: boolean } {
    const slices = this.#slicesOf(key);
    if (slices.size === 0) this.#slices.delete(key);
    return { ready: isReady(slices), wasUnready: this.#wasUnready.delete(key) };
  }

  #set(key: ObjectKey, slice: EndpointSliceView): string {
    const service = serviceKey(slice);
    return this.#update(service, this.#slicesOf(service).set(key, slice));
  }

  #remove(key: ObjectKey, slice: EndpointSliceView): string {
    const service = serviceKey(slice);
    const slices = this.#slicesOf(service);
    slices.delete(key);
    // A deletion makes no service ready: mirrored slices that are left count again once they are written.
    if (!slice.mirrored && ownOf(slices).length === 0) slices.clear();
    return this.#update(service, slices);
  }

  #update(service: string, slices: Map<ObjectKey, EndpointSliceView>): string {
    this.#slices.set(service, slices);
    if (!isReady(slices)) this.#wasUnready.add(service);
    return service;
  }

  #slicesOf(service: string): Map<ObjectKey, EndpointSliceView> {
    return this.#slices.get(service) ?? new Map<ObjectKey, EndpointSliceView>();
  }
}
