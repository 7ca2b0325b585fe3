import { type Cluster, decodeClusterWith } from '../gardener/cluster.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type NamedShoot, NoSuchShoot, findShoot, isNamespace, namedShoot, titleOf } from './state/find-shoot.ts';
import { type CommandContext, CommandError } from '../process/index.ts';

const path = '/apis/extensions.gardener.cloud/v1alpha1/clusters';

const decode = (json: unknown, at: string): NamedShoot => {
  const { name: namespace, shootName }: Cluster<undefined> = decodeClusterWith(json, at, () => undefined);
  return namedShoot(namespace, shootName);
};

/** Lists the shoots of Gardener; undefined where there are no Clusters. */
const listShoots = async (context: CommandContext): Promise<readonly NamedShoot[] | undefined> => {
  return (await unlessNotFound(context.client.call(listCall({ path, decode }), context.options)))?.value;
};

/** True if there is a Namespace of this name. */
const isThere = async (name: string, context: CommandContext): Promise<boolean> => {
  const query = { fieldSelector: `metadata.name=${name}` };
  const call = listCall({ path: '/api/v1/namespaces', query, decode: () => undefined });
  return (await context.client.call(call, context.options)).value.length > 0;
};

/**
 * Finds a shoot by any of its names. A Namespace without a Cluster may be that of a cluster outside Gardener, or of a shoot whose Cluster is gone. Throws a
 * NoSuchShoot without one, or a CommandError where there are no Clusters.
 */
export const findNamedShoot = async (wanted: string, context: CommandContext): Promise<NamedShoot> => {
  if (isNamespace(wanted)) {
    const one = `${path}/${encodeURIComponent(wanted)}`;
    const call = { method: 'GET', path: one, decode: (json: unknown) => decode(json, 'cluster') } as const;
    const found = await unlessNotFound(context.client.call(call, context.options));
    if (found !== undefined) return found.value;
  }
  const shoots = await listShoots(context);
  const found = findShoot(shoots ?? [], wanted);
  if (found !== undefined) return found;
  if (isNamespace(wanted) && (await isThere(wanted, context))) return { namespace: wanted, name: wanted };
  if (shoots !== undefined) throw new NoSuchShoot(wanted, shoots);
  throw new CommandError(
    `there is no shoot ${wanted}: this cluster does not serve Clusters (extensions.gardener.cloud), and has no such namespace; check --context and --kubeconfig`,
  );
};

/** Formats a shoot: `dev/one (shoot--dev--one)`. */
export const fullTitleOf = (shoot: NamedShoot): string =>
  shoot.name === shoot.namespace ? shoot.namespace : `${titleOf(shoot)} (${shoot.namespace})`;
