import { findHeldNote } from '../annotations/held-note.ts';
import type { FoundPause } from '../annotations/pause.ts';
import { replicasToRestore } from '../annotations/scaling-annotations.ts';
import { distinctBy } from '../kubernetes/api/distinct.ts';
import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import { clusterOfHeld, findHeldInCache } from '../prober/held/index.ts';
import { type DependentResource, type ProberSettings, shownPause } from '../prober/index.ts';
import { pauseInWords } from '../prober/status/index.ts';
import { type ObjectsDeps, orProblem } from './read-objects.ts';
import { readPauses } from './read-pauses.ts';
import type { HeldObjects, SeenShoot } from './seed-status.ts';

/** Parses `shoot--PROJECT--NAME` or `shoot-PROJECT--NAME` (`ComputeTechnicalID` of Gardener's pkg/utils/gardener). */
const nameIn = (cluster: string): Pick<SeenShoot, 'name' | 'project'> => {
  const prefix = ['shoot--', 'shoot-'].find((start) => cluster.startsWith(start));
  if (prefix === undefined) return { name: cluster };
  const rest = cluster.slice(prefix.length);
  const [at, from] = [rest.lastIndexOf('--'), rest.lastIndexOf('--') + 2];
  return at > 0 && from < rest.length ? { project: rest.slice(0, at), name: rest.slice(from) } : { name: cluster };
};

export interface HeldDeps extends ObjectsDeps {
  readonly settings: ProberSettings;
  readonly wall: () => number;
}

interface SeenHeld {
  readonly ref: ResourceRef;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Lists the held objects of one dependent resource in all namespaces. Rejects with an ApiError. */
const listHeld = async ({ ref }: DependentResource, deps: ObjectsDeps): Promise<readonly SeenHeld[]> => {
  const { apiVersion, kind } = ref;
  const found = await findHeldInCache(ref, deps);
  return found.map(({ name, namespace, annotations }) => ({
    ref: { apiVersion, kind, name },
    ...{ namespace, annotations },
  }));
};

/** Describes a shoot whose held resources are `own`. */
const shootOf = (name: string, own: readonly SeenHeld[], pause: FoundPause | undefined): SeenShoot => {
  const notes = own.flatMap(({ annotations }) => findHeldNote(annotations) ?? []);
  const since = Math.min(...notes.flatMap((note) => note.since ?? []));
  const paused = shownPause(pause) ?? null;
  const known = [...(paused === null ? [] : [pauseInWords(paused)]), ...notes.slice(0, 1).map(({ reason }) => reason)];
  return {
    namespace: name,
    ...nameIn(name),
    state: own.length > 0 ? 'protected' : 'paused',
    ...(Number.isFinite(since) ? { since: new Date(since).toISOString() } : {}),
    reason: notes[0]?.reason ?? '',
    next: { text: [...known, 'no prober responded'].filter((text) => text !== '').join('; ') },
    candidates: 0,
    expired: 0,
    leaseExpiryMs: 0,
    graceMs: 0,
    flapping: false,
    paused,
    held: own.map(({ ref: { kind, name: resource }, annotations }) => {
      const at = findHeldNote(annotations)?.since;
      return {
        kind,
        name: resource,
        replicas: replicasToRestore({ annotations }).replicas,
        ...(at === undefined ? {} : { since: new Date(at).toISOString() }),
      };
    }),
  };
};

/** Reads held resources, with start and reason, and pauses. Rejects with an ApiError if namespaces cannot be listed. */
export const readHeld = async (given: HeldDeps): Promise<HeldObjects> => {
  const { settings, wall } = given;
  const inOrder = settings.dependentResources.toSorted((a, b) => a.scaleUp.level - b.scaleUp.level);
  const [found, pauses] = await Promise.all([
    Promise.all(inOrder.map((one) => orProblem(refKey(one.ref), listHeld(one, given)))),
    readPauses(settings, given, wall()),
  ]);
  const all = found.flatMap(({ value = [] }) => value.map((one) => ({ ...one, cluster: clusterOfHeld(one) })));
  // Two templates may match the same object.
  const held = distinctBy(all, ({ namespace, ref }) => `${namespace}/${refKey(ref)}`);
  const names = new Set([...held.map(({ cluster }) => cluster), ...pauses.paused.keys()]);
  const shoots = [...names].map((name) =>
    shootOf(
      name,
      held.filter(({ cluster }) => cluster === name),
      pauses.paused.get(name),
    ),
  );
  return {
    shoots,
    total: Math.max(pauses.total, shoots.length),
    paused: shownPause(pauses.all) ?? null,
    problems: found.flatMap(({ problem }) => problem ?? []),
  };
};
