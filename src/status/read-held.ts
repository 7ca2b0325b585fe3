import { readHeldAnnotation } from '../annotations/held.ts';
import type { FoundPause } from '../annotations/pause.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { type HeldResource, findHeld, shownHeld, type ProberSettings, shownPause } from '../prober/index.ts';
import { judgeShoot } from './state/judge-shoot.ts';
import type { ShootFacts, ShootStatus } from './state/schema.ts';
import { type ObjectsDeps, orProblem } from './read-objects.ts';
import { readPauses } from './read-pauses.ts';
import type { HeldObjects } from './seed-status.ts';

/** Parses `shoot--PROJECT--NAME` or `shoot-PROJECT--NAME` (`ComputeTechnicalID` of Gardener's pkg/utils/gardener). */
const nameIn = (cluster: string): Pick<ShootStatus, 'name' | 'project'> => {
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

/** Describes a shoot whose held resources are `own`. Nothing else is known of it. */
const shootOf = (
  name: string,
  own: readonly Pick<HeldResource, 'ref' | 'annotations'>[],
  { pause, now }: { readonly pause: FoundPause | undefined; readonly now: number },
): ShootStatus => {
  const reason = own.flatMap(({ annotations }) => readHeldAnnotation(annotations) ?? [])[0]?.reason ?? '';
  const facts: ShootFacts = {
    namespace: name,
    ...nameIn(name),
    ...{ reason, candidates: 0, expired: 0, leaseExpiryMs: 0, graceMs: 0, flapping: false },
    paused: shownPause(pause) ?? null,
    held: own.map(({ ref, annotations }) => shownHeld({ ...ref, annotations })),
  };
  const told = judgeShoot(facts, { now, probeIntervalMs: 0, dryRun: false });
  return { ...facts, ...told, next: { text: 'not known, because no prober responded' } };
};

/** Reads held resources, with start and reason, and pauses. Rejects with an ApiError if namespaces cannot be listed. */
export const readHeld = async (given: HeldDeps): Promise<HeldObjects> => {
  const { settings, wall } = given;
  const now = wall();
  const inOrder = settings.dependentResources.toSorted((a, b) => a.scaleUp.level - b.scaleUp.level);
  const [found, pauses] = await Promise.all([
    Promise.all(inOrder.map(({ ref }) => orProblem(refKey(ref), findHeld(ref, { ...given, isCached: true })))),
    readPauses(settings, given, now),
  ]);
  const held = found.flatMap(({ value = [] }) => value);
  const names = new Set([...held.map(({ cluster }) => cluster), ...pauses.paused.keys()]);
  const shoots = [...names].map((name) =>
    shootOf(
      name,
      held.filter(({ cluster }) => cluster === name),
      { pause: pauses.paused.get(name) ?? pauses.all, now },
    ),
  );
  return {
    shoots,
    total: Math.max(pauses.total, shoots.length),
    paused: shownPause(pauses.all) ?? null,
    problems: found.flatMap(({ problem }) => problem ?? []),
  };
};
