import type { ObjectMeta } from '../kubernetes/api/decode.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import { type ResourceState, isAtLeast, isHeld } from '../kubernetes/api/scalable.ts';
import type { DependentSources } from '../kubernetes/cache/index.ts';
import { type ActDeps, act } from './act.ts';
import {
  type DryRunOverlays,
  type SnapshotSources,
  findMissing,
  overlayWrite,
  takeSnapshot,
  viewDependents,
} from './plan/snapshots.ts';
import type { DependentsView } from './judge/verdict.ts';
import type { Action, Outcome, Snapshot } from './plan/operation.ts';
import type { DependentResource, ProberSettings } from './settings.ts';

export interface DependentsDeps extends ActDeps {
  readonly dependents: DependentSources;
  readonly settings: ProberSettings;
}

/** The dependent resources of one shoot: what is known of them, and requests about them. Resources go by their `refKey`. */
export class Dependents {
  readonly #namespace: string;
  readonly #deps: DependentsDeps;
  readonly #resources: ReadonlyMap<string, DependentResource>;
  readonly #lastResponses = new Map<string, ResourceState>();
  readonly #overlays: DryRunOverlays = new Map();

  constructor(namespace: string, deps: DependentsDeps) {
    this.#namespace = namespace;
    this.#deps = deps;
    this.#resources = new Map(deps.settings.dependentResources.map((resource) => [refKey(resource.ref), resource]));
  }

  snapshotOf(key: string): Snapshot {
    const resource = this.#resources.get(key);
    return resource === undefined ? { kind: 'unknown' } : takeSnapshot(resource, this.#sources());
  }

  view(flowRuns: boolean): DependentsView {
    return viewDependents(this.#deps.settings.dependentResources, { ...this.#sources(), flowRuns });
  }

  /** Number of resources that carry the mark of meltdown protection, what was just written included. */
  countHeld(): number {
    return [...this.#resources.keys()].filter((key) => this.#isHeld(key)).length;
  }

  /** Keys of the required resources that are not there, as far as the watches know. */
  missing(): readonly string[] {
    return findMissing(this.#deps.settings.dependentResources, this.#sources());
  }

  /** The resource, with the UID that a watch shows. */
  identify(key: string): { readonly ref?: ResourceRef; readonly uid?: string } {
    const ref = this.#resources.get(key)?.ref;
    const uid = this.#metaOf(key)?.uid;
    return { ...(ref === undefined ? {} : { ref }), ...(uid === undefined ? {} : { uid }) };
  }

  /** Sends the one request of an action. Rejects only with `signal.reason`, and only for reads. */
  async ask(action: Action, options: { readonly urgent: boolean; readonly signal: AbortSignal }): Promise<Outcome> {
    const { key } = action;
    const ref = this.#resources.get(key)?.ref;
    const served = this.#deps.dependents.get(key)?.served();
    if (ref === undefined || served?.kind !== 'served') {
      const message = `${key}: the seed's API server has not said yet how it serves this kind`;
      return { key, result: { ok: false, error: new ApiError({ code: 'ConnectionError', message }) } };
    }
    const target = { ref, resource: served.resource, namespace: this.#namespace };
    const outcome = await act(this.#deps, { action, target, ...options });
    this.#keep(action, outcome);
    return outcome;
  }

  /** Calls `listener` when a resource has changed. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void {
    const unsubscribe = [...this.#resources].map(([id, { ref }]) =>
      this.#deps.dependents.get(id)?.store.subscribe(({ key }) => {
        if (key === `${this.#namespace}/${ref.name}`) listener();
      }),
    );
    return () => {
      for (const stop of unsubscribe) stop?.();
    };
  }

  #sources(): SnapshotSources {
    return {
      namespace: this.#namespace,
      sources: this.#deps.dependents,
      lastResponses: this.#lastResponses,
      overlays: this.#overlays,
    };
  }

  #metaOf(key: string): ObjectMeta | undefined {
    const ref = this.#resources.get(key)?.ref;
    return ref && this.#deps.dependents.get(key)?.store.get(`${this.#namespace}/${ref.name}`)?.meta;
  }

  #isHeld(key: string): boolean {
    const meta = this.#metaOf(key);
    if (meta === undefined) return false;
    const last = this.#lastResponses.get(key);
    return isHeld(last === undefined || isAtLeast(meta.resourceVersion, last.resourceVersion) ? meta : last);
  }

  #keep(action: Action, { result }: Outcome): void {
    if (!result.ok || result.value === undefined) return;
    if (action.kind === 'read' || !this.#deps.dryRun) this.#lastResponses.set(action.key, result.value);
    else overlayWrite(this.#overlays, action.key, { base: action.write.base, state: result.value });
  }
}
