import { type FoundPause, findPause, isInForce } from '../annotations/pause.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { watchCacheListOptions, type ProberSettings, configuredPause, laterPause } from '../prober/index.ts';
import type { ObjectsDeps } from './read-objects.ts';

interface SeenNamespace {
  readonly name: string;
  readonly isOfShoot: boolean;
  readonly pause: FoundPause | undefined;
}

/** Gardener's label on the namespace of a control plane (`v1beta1constants.GardenRole`). */
const roleLabel = 'gardener.cloud/role';

const listNamespaces = () =>
  listCall({
    ...watchCacheListOptions,
    path: '/api/v1/namespaces',
    decode: (json, path): SeenNamespace => {
      const { name, labels, annotations } = decodeMeta(decodeObject(json, path), path);
      const isOfShoot = labels[roleLabel] === 'shoot' || /^shoot--?.+/.test(name);
      return { name, isOfShoot, pause: findPause(annotations) };
    },
  });

/** Pauses that objects show. */
export interface SeenPauses {
  /** Pauses in force, by namespace. */
  readonly paused: ReadonlyMap<string, FoundPause>;
  readonly all: FoundPause | undefined;
  /** Number of clusters in the seed. */
  readonly total: number;
}

/** Reads the pauses of Namespaces and of the configuration. Rejects with an ApiError. */
export const readPauses = async (settings: ProberSettings, deps: ObjectsDeps, now: number): Promise<SeenPauses> => {
  const { value: namespaces } = await deps.client.call(listNamespaces(), deps.options);
  const paused = new Map(
    namespaces.flatMap(({ name, pause }) =>
      pause !== undefined && isInForce(pause, now) ? [[name, pause] as const] : [],
    ),
  );
  const all = laterPause(paused.get(deps.namespace), configuredPause(settings));
  paused.delete(deps.namespace);
  const ofShoots = namespaces.filter(({ name, isOfShoot }) => isOfShoot && name !== deps.namespace);
  return { paused, all, total: ofShoots.length };
};
