import { decodeCluster } from '../gardener/cluster.ts';
import { childObject, decodeObject, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { holdsOutside, type ProberSettings, decideSecretLifecycle, hostedShoot } from '../prober/index.ts';
import type { SeedShoot } from './checks/shoots.ts';
import { type ListedSecret, decodePlace, listTimeoutMs, readLabelledSecrets, readNamed } from './read-objects.ts';
import { type Reader, attempt, send, started } from './reader.ts';

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

/** Reads the clusters of a source of Secrets: each namespace with a Secret of the configured name or labels is one. */
const readSecretClusters = async (
  reader: Reader,
  settings: ProberSettings,
  source: NonNullable<ProberSettings['clusterSource']>,
): Promise<readonly SeedShoot[]> => {
  const { key, selector } = source;
  const places = { apiVersion: 'v1', resource: 'secrets', name: settings.kubeConfigSecretName, decode: decodePlace };
  const [secrets, namespaces] = await Promise.all([
    selector === undefined ? readNamed<ListedSecret>(reader, places) : readLabelledSecrets(reader, { key, selector }),
    attempt({ verb: 'list', group: '', resource: 'namespaces' }, async () => {
      const call = listCall({ path: '/api/v1/namespaces', decode: decodePlace });
      const { value } = await send(reader, call, listTimeoutMs);
      return new Set(value.filter(({ deleting }) => deleting).map((meta) => meta.name));
    }),
  ]);
  return Array.from(secrets, ([name, { deleting, problem }]): SeedShoot => {
    const decision = decideSecretLifecycle({
      secret: deleting ? 'gone' : 'there',
      namespaceDeleting: namespaces.has(name),
      holdsElsewhere: holdsOutside(settings),
    });
    return { cluster: { name, lifecycle: { ok: true, value: decision }, problem }, version: '' };
  });
};

/** Reads all clusters of the seed from the configured cluster source. */
export const readShoots = (reader: Reader, settings: ProberSettings): Promise<readonly SeedShoot[]> => {
  const { clusterSource } = settings;
  if (clusterSource !== undefined) return started(readSecretClusters(reader, settings, clusterSource));
  return attempt({ verb: 'list', group: 'extensions.gardener.cloud', resource: 'clusters' }, async () => {
    const call = listCall({ path: clusters, decode: decodeSeenShoot });
    return (await send(reader, call, listTimeoutMs)).value;
  });
};
