import { readHeldAnnotation } from '../annotations/held.ts';
import { findPause, inForce } from '../annotations/pause.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import {
  type HeldResource,
  type PauseWithOrigin,
  type ProberSettings,
  findHeld,
  isStillDown,
  laterPause,
  placed,
  shownHeld,
  shownPause,
} from '../prober/index.ts';
import { judgeShoot } from './state/judge-shoot.ts';
import type { ShootFacts, ShootStatus } from './state/schema.ts';
import { type ReadingContext, orProblem } from './read-objects.ts';
import type { HeldObjects } from './judge.ts';

/** Parses `shoot--PROJECT--NAME` or `shoot-PROJECT--NAME` (`ComputeTechnicalID` of Gardener's pkg/utils/gardener). */
const nameIn = (cluster: string): Pick<ShootStatus, 'name' | 'project'> => {
  const prefix = ['shoot--', 'shoot-'].find((start) => cluster.startsWith(start));
  if (prefix === undefined) return { name: cluster };
  const rest = cluster.slice(prefix.length);
  const [at, from] = [rest.lastIndexOf('--'), rest.lastIndexOf('--') + 2];
  return at > 0 && from < rest.length ? { project: rest.slice(0, at), name: rest.slice(from) } : { name: cluster };
};

/** Gardener's label on the namespace of a control plane (`v1beta1constants.GardenRole`). */
const roleLabel = 'gardener.cloud/role';

const listNamespaces = listCall({
  path: '/api/v1/namespaces',
  decode: (json, path) => {
    const { name, labels, annotations } = decodeMeta(decodeObject(json, path), path);
    const isOfShoot = labels[roleLabel] === 'shoot' || /^shoot--?.+/.test(name);
    return { name, isOfShoot, pause: findPause(annotations) };
  },
});

/** Reads the pauses of Namespaces that are in force `now`, the time of the API server, by name, and the names of the Namespaces of control planes. Rejects with an ApiError. */
export const readNamespaces = async ({ client, clock, options }: ReadingContext) => {
  const { value: namespaces, date: now = clock.now() } = await client.call(listNamespaces, options);
  const paused = new Map(
    namespaces.flatMap(({ name, pause: ordered }) => {
      const pause = inForce(ordered, now);
      return pause === undefined ? [] : [[name, pause] as const];
    }),
  );
  return { now, paused, ofShoots: namespaces.flatMap(({ name, isOfShoot }) => (isOfShoot ? name : [])) };
};

/** Describes a shoot whose held resources are `own`. Nothing else is known of it. */
const shootOf = (
  name: string,
  own: readonly Pick<HeldResource, 'ref' | 'annotations'>[],
  { pause, now }: { readonly pause: PauseWithOrigin | undefined; readonly now: number },
): ShootStatus => {
  const reason = own.flatMap(({ annotations }) => readHeldAnnotation(annotations)?.reason ?? [])[0] ?? '';
  const facts: ShootFacts = {
    namespace: name,
    ...nameIn(name),
    reason: reason === '' ? '' : `when scaled down: ${reason}`,
    ...{ candidates: 0, expired: 0, leaseExpiryMs: 0, graceMs: 0, flapping: false },
    paused: shownPause(pause) ?? null,
    held: own.map(({ ref, annotations }) => shownHeld({ ...ref, annotations })),
  };
  const told = judgeShoot(facts, { now, probeIntervalMs: 0, dryRun: false, leads: false });
  return { ...facts, ...told, next: { text: 'not known, because no prober responded' } };
};

/** Reads the held resources that the settings name, with start and reason, and pauses. `home`: namespace of the prober. Rejects with an ApiError if namespaces cannot be listed. */
export const readHeld = async (
  settings: ProberSettings,
  home: string,
  context: ReadingContext,
): Promise<HeldObjects> => {
  const inOrder = settings.dependentResources.toSorted((a, b) => a.scaleUp.level - b.scaleUp.level);
  const [found, { now, paused, ofShoots }] = await Promise.all([
    Promise.all(inOrder.map(({ ref }) => orProblem(refKey(ref), findHeld(ref, { ...context, isCached: true })))),
    readNamespaces(context),
  ]);
  const all = laterPause(placed(paused.get(home), 'all'), placed(inForce(settings.paused, now), 'configuration'));
  paused.delete(home);
  const byCluster = Map.groupBy(
    found.flatMap(({ value = [] }) => value.filter(isStillDown)),
    ({ cluster }) => cluster,
  );
  const shoots = [...new Set([...byCluster.keys(), ...paused.keys()])].map((name) =>
    shootOf(name, byCluster.get(name) ?? [], { pause: laterPause(placed(paused.get(name), name), all), now }),
  );
  return {
    shoots,
    total: Math.max(ofShoots.filter((name) => name !== home).length, shoots.length),
    paused: shownPause(all) ?? null,
    problems: found.flatMap(({ problem }) => problem ?? []),
  };
};
