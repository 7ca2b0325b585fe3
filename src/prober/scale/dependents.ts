import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ResourceState, isAtLeast } from '../../kubernetes/api/scalable.ts';
import { ignoresScaling, hasMark } from '../../annotations/scaling-annotations.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { type ProberActDeps, type ProberActRequest, act } from './act.ts';
import {
  type DryRunOverlays,
  type SnapshotSources,
  findMissing,
  overlayWrite,
  takeSnapshot,
  viewDependents,
} from './snapshots.ts';
import { isUp } from './advance-shoot.ts';
import { shownHeld } from './held.ts';
import type { DependentsView } from '../judge/judgement.ts';
import type { Action, ActionResponse, Snapshot } from './operation.ts';
import { type RefTemplate, objectKey } from '../config/ref-template.ts';
import type { HeldInShoot, IgnoredResource, ResourceInShoot } from '../../status/state/schema.ts';
import type { DependentFacts } from '../report/events.ts';
import type { DependentResource, ProberSettings } from '../config/settings.ts';

export interface DependentsDeps extends ProberActDeps {
  readonly dependents: DependentSources;
  readonly settings: ProberSettings;
}

interface ActionOptions extends Pick<ProberActRequest, 'urgent' | 'signal'> {
  readonly seed?: KubeClient | undefined;
}

/** The dependent resources of one shoot: their known state, and requests about them. Each is identified by its `refKey`. */
export class Dependents {
  readonly #cluster: string;
  readonly #deps: DependentsDeps;
  readonly #resources: ReadonlyMap<string, DependentResource>;
  readonly #lastResponses = new Map<string, ResourceState>();
  readonly #overlays: DryRunOverlays = new Map();

  constructor(cluster: string, deps: DependentsDeps) {
    this.#cluster = cluster;
    this.#deps = deps;
    this.#resources = new Map(deps.settings.dependentResources.map((resource) => [refKey(resource.ref), resource]));
  }

  /** Returns the resources in the cluster's namespace that a scale-down may hold together. */
  siblings(): readonly RefTemplate[] {
    return this.#deps.settings.dependentResources.flatMap(({ ref, scaleDown }) =>
      scaleDown === undefined || ref.namespace !== undefined ? [] : [ref],
    );
  }

  snapshotOf(key: string): Snapshot {
    const resource = this.#resources.get(key);
    return resource === undefined ? { kind: 'unknown' } : takeSnapshot(resource, this.#sources());
  }

  view(isScaling: boolean): DependentsView {
    return viewDependents(this.#deps.settings.dependentResources, { ...this.#sources(), isScaling });
  }

  /** Returns the number of resources that have the mark of meltdown protection, including the latest writes. */
  countHeld(): number {
    return [...this.#resources.keys()].filter((key) => this.#isHeld(key)).length;
  }

  /** Returns what is known of the resources, for the state of the shoot. */
  facts(): DependentFacts {
    return {
      held: this.#listHeld(),
      ignored: this.#listIgnored(),
      up: this.#listed((resource) => isUp(resource, (key) => this.snapshotOf(key))),
      missing: this.#listMissing(),
      notServed: this.#listNotServed(),
    };
  }

  /** Returns the required resources that a scale-down would change if the seed served their kind. */
  #listNotServed(): readonly ResourceInShoot[] {
    return this.#listed(
      ({ ref, scaleDown, optional }) =>
        scaleDown !== undefined && !optional && this.snapshotOf(refKey(ref)).kind === 'not-served',
    );
  }

  /** Returns the required resources that do not exist, as far as the watches show. */
  #listMissing(): readonly ResourceInShoot[] {
    const missing = new Set(this.missing());
    return this.#listed(({ ref }) => missing.has(refKey(ref)));
  }

  /** Returns the resources that have the mark of meltdown protection, with the count to restore. */
  #listHeld(): readonly HeldInShoot[] {
    return [...this.#resources].flatMap(([key, resource]) => {
      const marked = this.#latestMeta(key);
      if (marked === undefined || !hasMark(marked)) return [];
      return [shownHeld({ ...resource.ref, annotations: marked.annotations })];
    });
  }

  /** Returns the resources that a scale-down leaves as they are, because an operator has annotated them with `ignore-scaling`. */
  #listIgnored(): readonly IgnoredResource[] {
    return [...this.#resources].flatMap(([key, { ref, scaleDown }]) => {
      const meta = scaleDown === undefined ? undefined : this.#latestMeta(key);
      if (meta === undefined || !ignoresScaling(meta)) return [];
      const snapshot = this.snapshotOf(key);
      const isDown = snapshot.kind === 'state' && snapshot.state.specReplicas === 0;
      return [{ kind: ref.kind, name: ref.name, isDown }];
    });
  }

  /** Returns the keys of the required resources that do not exist, as far as the watches show. */
  missing(): readonly string[] {
    return findMissing(this.#deps.settings.dependentResources, this.#sources());
  }

  /** Returns the resource, with the UID that a watch shows. */
  identify(key: string): { readonly ref?: RefTemplate; readonly uid?: string } {
    const ref = this.#resources.get(key)?.ref;
    const uid = this.#metaOf(key)?.uid;
    return { ...(ref === undefined ? {} : { ref }), ...(uid === undefined ? {} : { uid }) };
  }

  /** Sends the one request of an action, through `seed` if there is one. Rejects only with `signal.reason`, and only for reads. */
  async send(action: Action, { seed = this.#deps.seed, ...options }: ActionOptions): Promise<ActionResponse> {
    const { key } = action;
    const ref = this.#resources.get(key)?.ref;
    const served = this.#deps.dependents.get(key)?.served();
    if (ref === undefined || served?.kind !== 'served') {
      const message = `${key}: the seed's API server has not said yet how it serves this kind`;
      return { key, result: { ok: false, error: new ApiError({ code: 'ConnectionError', message }) } };
    }
    const { namespace = this.#cluster } = ref;
    const target = { ref, resource: served.resource, namespace };
    const outcome = await act({ ...this.#deps, seed }, { action, target, ...options });
    this.#keep(action, outcome);
    return outcome;
  }

  /** Calls `listener` when a resource has changed. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void {
    const unsubscribe = [...this.#resources].map(([id, { ref }]) =>
      this.#deps.dependents.get(id)?.store.subscribe(({ key }) => {
        if (key === objectKey(ref, this.#cluster)) listener();
      }),
    );
    return () => {
      for (const stop of unsubscribe) stop?.();
    };
  }

  #listed(isListed: (resource: DependentResource) => boolean): readonly ResourceInShoot[] {
    return [...this.#resources.values()].filter(isListed).map(({ ref: { kind, name } }) => ({ kind, name }));
  }

  #sources(): SnapshotSources {
    return {
      cluster: this.#cluster,
      sources: this.#deps.dependents,
      lastResponses: this.#lastResponses,
      overlays: this.#overlays,
    };
  }

  #metaOf(key: string): ObjectMeta | undefined {
    const ref = this.#resources.get(key)?.ref;
    return ref && this.#deps.dependents.get(key)?.store.get(objectKey(ref, this.#cluster))?.meta;
  }

  #isHeld(key: string): boolean {
    const meta = this.#latestMeta(key);
    return meta !== undefined && hasMark(meta);
  }

  /** Returns the metadata that a watch shows, or that the API server has returned since. */
  #latestMeta(key: string): Pick<ObjectMeta, 'annotations'> | undefined {
    const meta = this.#metaOf(key);
    if (meta === undefined) return undefined;
    const last = this.#lastResponses.get(key);
    return last === undefined || isAtLeast(meta.resourceVersion, last.resourceVersion) ? meta : last;
  }

  #keep(action: Action, { result }: ActionResponse): void {
    if (!result.ok || result.value === undefined) return;
    if (action.kind === 'read' || !this.#deps.dryRun) this.#lastResponses.set(action.key, result.value);
    else overlayWrite(this.#overlays, action.key, { base: action.write.base, state: result.value });
  }
}
