import { ApiError } from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { hasActive, ignoresScaling } from '../../annotations/scaling-annotations.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { type ProberActDeps, type ProberActRequest, act } from './act.ts';
import {
  type LastResponse,
  type SeenDependent,
  type ViewOptions,
  annotatedIn,
  inForce,
  isStillRunning,
  isUp,
  responseAfter,
  takeSnapshot,
  viewDependents,
} from './snapshots.ts';
import { shownHeld } from './held.ts';
import type { DependentsView } from '../judge/judgement.ts';
import type { Action, ActionResponse, Snapshot } from './operation.ts';
import { type RefTemplate, objectKey } from '../config/ref-template.ts';
import type { HeldInShoot, IgnoredResource, ResourceInShoot } from '../../status/state/schema.ts';
import type { DependentFacts } from '../report/events.ts';
import type { DependentResource, ProberSettings } from '../config/settings.ts';

export interface DependentsDeps extends ProberActDeps {
  readonly clock: Clock;
  readonly dependents: DependentSources;
  readonly settings: ProberSettings;
}

interface ActionOptions extends Pick<ProberActRequest, 'urgent' | 'signal'> {
  readonly seed: KubeClient;
}

const none = { annotations: {} };

/** The dependent resources of one shoot: their known state, and requests about them. Each is identified by its `refKey`. */
export class Dependents {
  readonly #cluster: string;
  readonly #deps: DependentsDeps;
  readonly #resources: ReadonlyMap<string, DependentResource>;
  readonly #lastResponses = new Map<string, LastResponse>();

  constructor(cluster: string, deps: DependentsDeps) {
    this.#cluster = cluster;
    this.#deps = deps;
    this.#resources = new Map(deps.settings.dependentResources.map((resource) => [refKey(resource.ref), resource]));
  }

  /** Returns the resources that matter now. */
  resources(): readonly DependentResource[] {
    return inForce(this.#seen()).map(({ resource }) => resource);
  }

  /** Returns the known state of a resource; in a dry run with the simulated writes, unless `isReal`. */
  snapshotOf(key: string, isReal = false): Snapshot {
    const resource = this.#resources.get(key);
    if (resource === undefined) return { kind: 'unknown' };
    const kept = this.#lastResponses.get(key);
    const last = isReal && kept?.over !== undefined ? { state: kept.over } : kept;
    return takeSnapshot(resource, { cluster: this.#cluster, source: this.#deps.dependents.get(key), last });
  }

  view(options: ViewOptions): DependentsView {
    return viewDependents(this.#seen(), options);
  }

  /** Returns what is known of the resources, the latest writes included, for the state of the shoot. */
  facts(): DependentFacts {
    const held: HeldInShoot[] = [];
    const ignored: IgnoredResource[] = [];
    const up: ResourceInShoot[] = [];
    const stillRunning: ResourceInShoot[] = [];
    const missing: ResourceInShoot[] = [];
    const notServed: ResourceInShoot[] = [];
    const unread: ResourceInShoot[] = [];
    for (const [key, resource] of this.#resources) {
      const { ref, optional, scaleDown } = resource;
      const snapshot = this.snapshotOf(key, true);
      const pretended = this.#deps.dryRun ? this.snapshotOf(key) : snapshot;
      const { annotations } = annotatedIn(snapshot) ?? none;
      const one = { kind: ref.kind, name: ref.name };
      const isScaledUp = snapshot.kind === 'state' && snapshot.state.specReplicas > 0;
      if (hasActive({ annotations }) && !isScaledUp) held.push(shownHeld({ ...one, annotations }));
      if (isUp(resource, pretended)) up.push(one);
      if (isStillRunning(resource, snapshot, this.#deps.clock.now())) stillRunning.push(one);
      if (scaleDown !== undefined && snapshot.kind === 'unknown' && snapshot.object === undefined) unread.push(one);
      if (scaleDown !== undefined && ignoresScaling({ annotations })) {
        ignored.push({ ...one, isDown: snapshot.kind === 'state' && snapshot.state.specReplicas === 0 });
      }
      if (!optional && snapshot.kind === 'absent') missing.push(one);
      if (!optional && scaleDown !== undefined && snapshot.kind === 'not-served') notServed.push(one);
    }
    return { held, ignored, up, stillRunning, missing, notServed, unread };
  }

  /** Returns the resource, with the UID that a watch shows. */
  identify(key: string): { readonly ref?: RefTemplate; readonly uid?: string } {
    const ref = this.#resources.get(key)?.ref;
    return { ref, uid: ref && this.#deps.dependents.get(key)?.store.get(objectKey(ref, this.#cluster))?.meta.uid };
  }

  /** Sends the one request of an action, through `seed`. Rejects only with `signal.reason`, and only for reads. */
  async send(action: Action, { seed, ...options }: ActionOptions): Promise<ActionResponse> {
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
    const { result } = outcome;
    if (result.ok && result.value !== undefined) {
      const base = action.kind === 'write' && this.#deps.dryRun ? action.write.base : undefined;
      this.#lastResponses.set(key, responseAfter(this.#lastResponses.get(key), result.value, base));
    }
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

  #seen(): readonly SeenDependent[] {
    return Array.from(this.#resources, ([key, resource]) => ({ resource, snapshot: this.snapshotOf(key) }));
  }
}
