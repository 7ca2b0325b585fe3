import {
  type DependentResource,
  type ResourceState,
  isHeld,
  refKey,
  scalesInOneWrite,
  workloadState,
} from '../../domain/index.ts';
import type { DependentSources } from '../../ports/index.ts';
import { isUndisturbed } from './moves.ts';
import type { Snapshot } from './operation.ts';
import type { DependentsView } from './verdict.ts';

export interface SnapshotSources {
  readonly namespace: string;
  readonly sources: DependentSources;
  /** Latest state that was read, by `refKey`: the count of a custom resource stands only in its Scale, which no watch shows. */
  readonly learned: ReadonlyMap<string, ResourceState>;
}

/** What is known of a dependent resource without a request. */
export const takeSnapshot = (
  resource: DependentResource,
  { namespace, sources, learned }: SnapshotSources,
): Snapshot => {
  const key = refKey(resource.ref);
  const source = sources.get(key);
  const served = source?.served() ?? { kind: 'unknown' };
  if (served.kind === 'not-served') return served;
  if (source === undefined || served.kind === 'unknown' || !source.store.synced) return { kind: 'unknown' };
  const object = source.store.get(`${namespace}/${resource.ref.name}`);
  if (object === undefined) return { kind: 'absent' };
  if (scalesInOneWrite(resource.ref)) return { kind: 'state', state: workloadState(object) };
  const { resourceVersion } = object.meta;
  const state = learned.get(key);
  return state?.resourceVersion === resourceVersion ? { kind: 'state', state } : { kind: 'unknown', resourceVersion };
};

export const viewDependents = (
  resources: readonly DependentResource[],
  context: SnapshotSources & { readonly flowRuns: boolean },
): DependentsView => {
  const { namespace, sources, flowRuns } = context;
  const isFine = (resource: DependentResource): boolean => {
    const snapshot = takeSnapshot(resource, context);
    switch (snapshot.kind) {
      case 'state':
        return isUndisturbed(snapshot.state);
      case 'absent':
      case 'not-served':
        return resource.optional;
      case 'unknown':
        return false;
    }
  };
  const isMarked = ({ ref }: DependentResource): boolean => {
    const object = sources.get(refKey(ref))?.store.get(`${namespace}/${ref.name}`);
    return object !== undefined && isHeld(object.meta);
  };
  return { undisturbed: !flowRuns && resources.every(isFine), anyHeld: resources.some(isMarked) };
};
