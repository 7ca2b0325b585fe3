import { decodeCluster } from '../gardener/cluster.ts';
import { childObject, decodeObject, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { holdsOutside, type ProberSettings, decideSecretLifecycle, hostedShoot } from '../prober/index.ts';
import type { SeedRead } from './checks/check.ts';
import type { SeedShoot } from './checks/shoots.ts';
import { type ListedSecret, decodePlace, listTimeoutMs, readLabelledSecrets, readNamed } from './read-objects.ts';
import { type Reader, attempt, send } from './reader.ts';

const decodeSeenShoot = (json: unknown, path: string): SeedShoot => {
  const cluster = decodeCluster(json, path);
  const spec = childObject(decodeObject(json, path), path, 'spec');
  return { cluster: hostedShoot(cluster), version: cluster.shoot.ok ? versionOf(spec.shoot) : '' };
};

/** Returns the Kubernetes version of the Shoot in a Cluster that could be decoded. */
const versionOf = (shoot: unknown): string => {
  const spec = childObject(decodeObject(shoot, 'shoot'), 'shoot', 'spec');
  return optionalString(childObject(spec, 'shoot.spec', 'kubernetes').version, 'shoot.spec.kubernetes.version') ?? '';
};

const clusters = '/apis/extensions.gardener.cloud/v1alpha1/clusters';

/** Query for clusters of a source of Secrets: each namespace with a Secret of the configured name or labels is one. */
interface SecretQuery {
  readonly name: string;
  readonly key: string;
  readonly selector?: string | undefined;
  readonly holdsElsewhere: boolean;
}

const readSecretClusters = async (
  reader: Reader,
  { name, key, selector, holdsElsewhere }: SecretQuery,
): Promise<SeedRead<readonly SeedShoot[]>> => {
  const places = { apiVersion: 'v1', resource: 'secrets', name, decode: decodePlace };
  const [secrets, namespaces] = await Promise.all([
    selector === undefined ? readNamed<ListedSecret>(reader, places) : readLabelledSecrets(reader, { key, selector }),
    attempt({ verb: 'list', group: '', resource: 'namespaces' }, async () => {
      const call = listCall({ path: '/api/v1/namespaces', decode: decodePlace });
      const { value } = await send(reader, call, listTimeoutMs);
      return new Set(value.filter(({ deleting }) => deleting).map((meta) => meta.name));
    }),
  ]);
  if (!secrets.ok) return secrets;
  if (!namespaces.ok) return namespaces;
  const shoots = Array.from(secrets.value, ([namespace, { deleting, problem }]): SeedShoot => {
    const secret = deleting ? 'gone' : 'there';
    const decision = decideSecretLifecycle({
      secret,
      namespaceDeleting: namespaces.value.has(namespace),
      holdsElsewhere,
    });
    const unclear = problem === undefined ? {} : { problem };
    return { cluster: { name: namespace, lifecycle: { ok: true, value: decision }, ...unclear }, version: '' };
  });
  return { ok: true, value: shoots };
};

/** Reads all clusters of the seed from the configured cluster source. */
export const readShoots = (reader: Reader, settings: ProberSettings): Promise<SeedRead<readonly SeedShoot[]>> => {
  const { clusterSource, kubeConfigSecretName: name } = settings;
  if (clusterSource === undefined) return readGardenShoots(reader);
  return readSecretClusters(reader, { name, ...clusterSource, holdsElsewhere: holdsOutside(settings) });
};

const readGardenShoots = (reader: Reader): Promise<SeedRead<readonly SeedShoot[]>> =>
  attempt({ verb: 'list', group: 'extensions.gardener.cloud', resource: 'clusters' }, async () => {
    const call = listCall({ path: clusters, decode: decodeSeenShoot });
    return (await send(reader, call, listTimeoutMs)).value;
  });
