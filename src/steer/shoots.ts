import { type Cluster, decodeClusterWith } from '../gardener/cluster.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type CommandContext, CommandProblem, callOptions } from '../process/index.ts';

/** A shoot with the names that operators use. */
export interface NamedShoot {
  /** Namespace of its control plane. */
  readonly namespace: string;
  /** `PROJECT/NAME`. Absent without a Cluster that shows it. */
  readonly name?: string;
}

const path = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
/** Timeout of a list of all Clusters, in pages: a seed may have a thousand shoots. */
const listTimeoutMs = 120_000;

const decode = (json: unknown, at: string): NamedShoot => {
  const { name: namespace, shootName }: Cluster<undefined> = decodeClusterWith(json, at, () => undefined);
  const project = shootName?.namespace.replace(/^garden-/, '');
  return { namespace, ...(shootName === undefined ? {} : { name: `${project ?? ''}/${shootName.name}` }) };
};

const byNamespace = async (namespace: string, context: CommandContext): Promise<NamedShoot> => {
  const one = `${path}/${encodeURIComponent(namespace)}`;
  const call = { method: 'GET', path: one, decode: (json: unknown) => decode(json, 'cluster') } as const;
  // Systems other than Gardener have no such Clusters.
  return (await unlessNotFound(context.client.call(call, callOptions(context))))?.value ?? { namespace };
};

/** Lists the shoots of Gardener. */
const listShoots = async (context: CommandContext): Promise<readonly NamedShoot[]> => {
  const options = { ...callOptions(context), timeoutMs: listTimeoutMs };
  return (await unlessNotFound(context.client.call(listCall({ path, decode }), options)))?.value ?? [];
};

/** Finds a shoot by the namespace of its control plane, or `PROJECT/NAME`. Throws a CommandProblem without one. */
export const findShoot = async (wanted: string, context: CommandContext): Promise<NamedShoot> => {
  if (!wanted.includes('/')) return byNamespace(wanted, context);
  const shoots = await listShoots(context);
  const name = wanted.replace(/^garden-/, '');
  const found = shoots.find((shoot) => shoot.name === name);
  if (found !== undefined) return found;
  throw new CommandProblem(`there is no shoot ${wanted} in this seed`, [
    `it has ${String(shoots.length)} shoots; kubectl get clusters lists their namespaces, which --shoot also accepts`,
  ]);
};

/** Formats a shoot: `dev/one (shoot--dev--one)`. */
export const titleOf = ({ namespace, name }: NamedShoot): string =>
  name === undefined ? namespace : `${name} (${namespace})`;
