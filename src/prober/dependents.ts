import { ApiError } from '../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import { type ResourceState, isAtLeast, isHeld } from '../kubernetes/api/scalable.ts';
import type { DependentSources } from '../kubernetes/cache/index.ts';
import { type ActDeps, act } from './act.ts';
import { type DryRunOverlays, findMissing, overlayWrite, takeSnapshot, viewDependents } from './plan/snapshots.ts';
import type { DependentsView } from './judge/verdict.ts';
import type { Action, Outcome, Snapshot } from './plan/operation.ts';
import type { ProberSettings } from './settings.ts';

export interface DependentsDeps extends ActDeps {
  readonly dependents: DependentSources;
  readonly settings: ProberSettings;
}

/** The dependent resources of one shoot: what is known of them, and requests about them. Resources go by their `refKey`. */
export interface Dependents {
  snapshotOf(key: string): Snapshot;
  view(flowRuns: boolean): DependentsView;
  /** Resources that carry the mark of meltdown protection, what was just written included. */
  countHeld(): number;
  /** Keys of the required resources that are not there, as far as the watches know. */
  missing(): readonly string[];
  /** The resource, with the UID that a watch shows. */
  identify(key: string): { readonly ref?: ResourceRef; readonly uid?: string };
  /** Sends the one request of an action. Rejects only with `signal.reason`, and only for reads. */
  ask(action: Action, options: { readonly urgent: boolean; readonly signal: AbortSignal }): Promise<Outcome>;
  /** `listener` hears that a resource has changed. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
}

export const createDependents = (namespace: string, deps: DependentsDeps): Dependents => {
  const resources = deps.settings.dependentResources;
  const byKey = new Map(resources.map((resource) => [refKey(resource.ref), resource]));
  const lastResponses = new Map<string, ResourceState>();
  const overlays: DryRunOverlays = new Map();
  const context = { namespace, sources: deps.dependents, lastResponses, overlays };

  const metaOf = (key: string) => {
    const ref = byKey.get(key)?.ref;
    return ref && deps.dependents.get(key)?.store.get(`${namespace}/${ref.name}`)?.meta;
  };

  const keep = (action: Action, { result }: Outcome): void => {
    if (!result.ok || result.value === undefined) return;
    if (action.kind === 'read' || !deps.dryRun) lastResponses.set(action.key, result.value);
    else overlayWrite(overlays, action.key, { base: action.write.base, state: result.value });
  };

  return {
    snapshotOf: (key) => {
      const resource = byKey.get(key);
      return resource === undefined ? { kind: 'unknown' } : takeSnapshot(resource, context);
    },
    view: (flowRuns) => viewDependents(resources, { ...context, flowRuns }),
    countHeld: () =>
      [...byKey.keys()].filter((key) => {
        const meta = metaOf(key);
        if (meta === undefined) return false;
        const lastResponse = lastResponses.get(key);
        return isHeld(
          lastResponse === undefined || isAtLeast(meta.resourceVersion, lastResponse.resourceVersion)
            ? meta
            : lastResponse,
        );
      }).length,
    missing: () => findMissing(resources, context),
    identify: (key) => {
      const ref = byKey.get(key)?.ref;
      const uid = metaOf(key)?.uid;
      return { ...(ref === undefined ? {} : { ref }), ...(uid === undefined ? {} : { uid }) };
    },
    ask: async (action, options) => {
      const { key } = action;
      const ref = byKey.get(key)?.ref;
      const served = deps.dependents.get(key)?.served();
      if (ref === undefined || served?.kind !== 'served') {
        const message = `${key}: the seed's API server has not said yet how it serves this kind`;
        return { key, result: { ok: false, error: new ApiError({ code: 'ConnectionError', message }) } };
      }
      const outcome = await act(deps, { action, target: { ref, resource: served.resource, namespace }, ...options });
      keep(action, outcome);
      return outcome;
    },
    subscribe: (listener) => {
      const unsubscribe = resources.map(({ ref }) =>
        deps.dependents.get(refKey(ref))?.store.subscribe(({ key }) => {
          if (key === `${namespace}/${ref.name}`) listener();
        }),
      );
      return () => {
        for (const stop of unsubscribe) stop?.();
      };
    },
  };
};
