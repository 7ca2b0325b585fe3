import { type FoundPause, findPause, isInForce } from '../gardener/pause.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { watchCacheListOptions, sharesNamespaces } from '../prober/held/index.ts';
import {
  type HostedCluster,
  type ProberSettings,
  configuredPause,
  laterPause,
  listCapiClusters,
  parseClusterName,
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
    ...watchCacheListOptions,
    path: '/api/v1/namespaces',
    decode: (json, path): SeenNamespace => {
      const { name, labels, annotations } = decodeMeta(decodeObject(json, path), path);
      const isOfShoot = labels[roleLabel] === 'shoot' || /^shoot--?.+/.test(name);
      return { name, isOfShoot, pause: findPause(annotations) };
    },
  });

/** Configuration for the search for pauses. */
export interface PauseSearch {
  readonly settings: ProberSettings;
  /** True if a configuration is installed. If not, `settings` are Gardener's defaults. */
  readonly isInstalled: boolean;
}

interface SeenClusters {
  readonly clusters: readonly HostedCluster[];
  readonly problems: readonly string[];
}

/** Lists clusters of Cluster API, which may share a namespace. Without an installed configuration they are listed too, because they may be paused. */
const readClusters = async ({ settings, isInstalled }: PauseSearch, deps: ObjectsDeps): Promise<SeenClusters> => {
  const isConfigured = sharesNamespaces(settings);
  if (isInstalled && !isConfigured) return { clusters: [], problems: [] };
  const { value: clusters = [], problem } = await orProblem(
    'the Clusters of Cluster API',
    listCapiClusters(deps.client, deps.options),
  );
  if (isConfigured) return { clusters, problems: problem === undefined ? [] : [problem] };
  const blind = `no prober configuration was found in ${deps.namespace}: in the clusters of Cluster API, only resources with Gardener's names were searched for`;
  return { clusters, problems: clusters.length === 0 ? [] : [blind] };
};

/** Pauses that objects show. */
export interface SeenPauses {
  /** Returns the pause in force of the cluster with that name: its own, or that of its namespace. */
  readonly of: (name: string) => FoundPause | undefined;
  /** Names of the paused clusters, and of paused namespaces without a known cluster. */
  readonly paused: readonly string[];
  readonly all: FoundPause | undefined;
  /** Returns true if the cluster exists. Only clusters that may share a namespace are known. */
  readonly isKnown: (name: string) => boolean;
  /** Number of clusters in the seed. */
  readonly total: number;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** Reads the pauses of Namespaces, of clusters that share one, and of the configuration. Rejects with an ApiError if namespaces cannot be listed. */
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
  const of = (name: string): FoundPause | undefined =>
    laterPause(known.get(name), known.get(parseClusterName(name).namespace));
  const ofClusters = new Set(clusters.map(({ name }) => name));
  const shared = new Set(clusters.map(({ name }) => parseClusterName(name).namespace));
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
