import { type FoundPause, findPause, isInForce } from '../gardener/pause.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { fromCache, sharesNamespaces } from '../prober/held/index.ts';
import {
  type HostedCluster,
  type ProberSettings,
  configuredPause,
  laterPause,
  listCapiClusters,
  placeOf,
} from '../prober/index.ts';
import { type ObjectsDeps, orProblem } from './read-objects.ts';

interface SeenNamespace {
  readonly name: string;
  readonly isOfShoot: boolean;
  readonly pause: FoundPause | undefined;
}

/** Gardener's label on the namespace of a control plane (`v1beta1constants.GardenRole`). */
const roleLabel = 'gardener.cloud/role';

const listNamespaces = () =>
  listCall({
    ...fromCache,
    path: '/api/v1/namespaces',
    decode: (json, path): SeenNamespace => {
      const { name, labels, annotations } = decodeMeta(decodeObject(json, path), path);
      const isOfShoot = labels[roleLabel] === 'shoot' || /^shoot--?.+/.test(name);
      return { name, isOfShoot, pause: findPause(annotations) };
    },
  });

/** What is looked for, in a seed whose configuration may not be known. */
export interface PauseSearch {
  readonly settings: ProberSettings;
  /** False: nothing is installed, and the settings are Gardener's own. */
  readonly isInstalled: boolean;
}

interface SeenClusters {
  readonly clusters: readonly HostedCluster[];
  readonly problems: readonly string[];
}

/** Those that may share a namespace. Where nobody says whether there are any, they are asked for all the same: they may be paused. */
const readClusters = async ({ settings, isInstalled }: PauseSearch, deps: ObjectsDeps): Promise<SeenClusters> => {
  const isConfigured = sharesNamespaces(settings);
  if (isInstalled && !isConfigured) return { clusters: [], problems: [] };
  const { value: clusters = [], problem } = await orProblem(
    'the Clusters of Cluster API',
    listCapiClusters(deps.client, deps.options),
  );
  if (isConfigured) return { clusters, problems: problem === undefined ? [] : [problem] };
  const blind = `no configuration of a prober is known in ${deps.namespace}: of the clusters of Cluster API, only what Gardener's own names was looked for`;
  return { clusters, problems: clusters.length === 0 ? [] : [blind] };
};

/** What is paused, as far as objects tell. */
export interface SeenPauses {
  /** The pause in force of a cluster, by its name: its own, or that of its namespace. */
  readonly of: (name: string) => FoundPause | undefined;
  /** Names of the clusters that are paused: a namespace in which there is none that is known goes by itself. */
  readonly paused: readonly string[];
  readonly all: FoundPause | undefined;
  /** True of a cluster that is there, where clusters may share a namespace. */
  readonly isKnown: (name: string) => boolean;
  /** Clusters of the seed. */
  readonly total: number;
  /** What could not be read, a sentence each. */
  readonly problems: readonly string[];
}

/** The pauses of Namespaces, of clusters that share one, and of the configuration. Rejects with an ApiError where namespaces cannot be listed. */
export const readPauses = async (configured: PauseSearch, deps: ObjectsDeps, now: number): Promise<SeenPauses> => {
  const [{ value: namespaces }, { clusters, problems }] = await Promise.all([
    deps.client.call(listNamespaces(), deps.options),
    readClusters(configured, deps),
  ]);
  const known = new Map(
    [...namespaces, ...clusters].flatMap(({ name, pause }) =>
      pause !== undefined && isInForce(pause, now) ? [[name, pause] as const] : [],
    ),
  );
  const all = laterPause(known.get(deps.namespace), configuredPause(configured.settings));
  known.delete(deps.namespace);
  const of = (name: string): FoundPause | undefined => laterPause(known.get(name), known.get(placeOf(name).namespace));
  const ofClusters = new Set(clusters.map(({ name }) => name));
  const shared = new Set(clusters.map(({ name }) => placeOf(name).namespace));
  const names = [...clusters.map(({ name }) => name), ...[...known.keys()].filter((name) => !shared.has(name))];
  const ofShoots = namespaces.filter(({ name, isOfShoot }) => isOfShoot && name !== deps.namespace);
  return {
    of,
    paused: [...new Set(names)].filter((name) => of(name) !== undefined),
    all,
    isKnown: (name) => ofClusters.has(name),
    total: clusters.length + (sharesNamespaces(configured.settings) ? 0 : ofShoots.length),
    problems,
  };
};
