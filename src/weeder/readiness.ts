import type { EndpointSliceView } from '../kubernetes/api/endpoint-slice.ts';
import type { ObjectKey, Store, StoreChange } from '../kubernetes/cache/index.ts';

/** Key of a service: `namespace/service`. */
const serviceKey = ({ namespace, service }: Pick<EndpointSliceView, 'namespace' | 'service'>): string =>
  `${namespace}/${service}`;

/** Readiness of services. A service may have several EndpointSlices. */
export class ServiceReadiness {
  /** Keys of the slices with a ready endpoint, by service. */
  readonly #ready = new Map<string, Set<ObjectKey>>();
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

  /** Keys of the services with a ready slice, and of those with a slice, ready or not, seen since their last `take`. */
  keys(): readonly string[] {
    return [...this.#ready.keys()];
  }

  /** Returns the readiness of a service. `ready`: a slice has a ready endpoint. `wasUnready`: at some time since the last `take`, none had. */
  take(key: string): { readonly ready: boolean; readonly wasUnready: boolean } {
    const ready = (this.#ready.get(key)?.size ?? 0) > 0;
    const wasUnready = this.#wasUnready.delete(key);
    if (!ready) this.#ready.delete(key);
    return { ready, wasUnready };
  }

  #set(key: ObjectKey, slice: EndpointSliceView): string {
    const service = serviceKey(slice);
    const slices = this.#ready.get(service) ?? new Set();
    if (slice.ready) slices.add(key);
    else slices.delete(key);
    this.#ready.set(service, slices);
    return this.#noteUnready(service);
  }

  #remove(key: ObjectKey, slice: EndpointSliceView): string {
    const service = serviceKey(slice);
    this.#ready.get(service)?.delete(key);
    return this.#noteUnready(service);
  }

  #noteUnready(service: string): string {
    if (this.#ready.get(service)?.size === 0) this.#wasUnready.add(service);
    return service;
  }
}
