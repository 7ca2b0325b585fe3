import {
  type Call,
  ApiError,
  decodeList,
  decodeMeta,
  decodeObject,
  type ProberSettings,
  type ResourceRef,
  type Right,
  scalesInOneWrite,
} from '../domain/index.ts';
import { resolveKind } from '../kube/index.ts';
import type { Inquiry, NeededRight } from './check-rights.ts';

/** One Cluster, which may be any. */
const firstCluster: Call<readonly string[]> = {
  method: 'GET',
  path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
  query: { limit: '1' },
  decode: decodeList((item, path) => decodeMeta(decodeObject(item, path), path).name),
};

/** Some namespace of a shoot's control plane: rights to single objects may be granted namespace by namespace. */
const someNamespace = async ({ client, options }: Inquiry): Promise<string | undefined> => {
  try {
    return (await client.call(firstCluster, options)).value[0];
  } catch (error) {
    // That this right is missing is told with the others.
    if (error instanceof ApiError && error.code === 'Forbidden') return undefined;
    throw error;
  }
};

const withVerbs = (verbs: readonly string[], right: Omit<Right, 'verb'>, purpose: string): readonly NeededRight[] =>
  verbs.map((verb) => ({ right: { verb, ...right }, purpose }));

const secretNames = ({ kubeConfigSecretName, outsidePath }: ProberSettings): readonly string[] => [
  ...new Set([kubeConfigSecretName, ...(outsidePath === undefined ? [] : [outsidePath.kubeConfigSecretName])]),
];

interface Place {
  readonly namespace?: string;
}

const groupOf = ({ apiVersion }: ResourceRef): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

const forDependent = async (ref: ResourceRef, place: Place, inquiry: Inquiry): Promise<readonly NeededRight[]> => {
  const found = await resolveKind(inquiry.client, ref, inquiry.options);
  // That its kind is not served is told elsewhere, and there is nothing to have a right to.
  if (found.kind === 'not-served') return [];
  const group = groupOf(ref);
  const { resource } = found;
  const { name } = ref;
  const scale = { group, resource: `${resource}/scale`, name, ...place };
  return [
    ...withVerbs(['list', 'watch'], { group, resource, name }, 'to know the state of a dependent resource'),
    ...withVerbs(['get', 'patch'], { group, resource, name, ...place }, 'to scale a dependent resource'),
    ...(scalesInOneWrite(ref) ? [] : withVerbs(['get', 'patch'], scale, 'to scale a dependent resource')),
  ];
};

const forApiServer = async (ref: ResourceRef, inquiry: Inquiry): Promise<readonly NeededRight[]> => {
  const found = await resolveKind(inquiry.client, ref, inquiry.options);
  if (found.kind === 'not-served') return [];
  const right = { group: groupOf(ref), resource: found.resource, name: ref.name };
  return withVerbs(['list', 'watch'], right, 'to tell whether an API server that cannot be reached is down');
};

/**
 * Rights in the seed that probing under `settings` takes. What is watched is watched in all namespaces; what is read and written one by one
 * is asked for in the namespace of one shoot.
 */
export const neededByProber = async (settings: ProberSettings, inquiry: Inquiry): Promise<readonly NeededRight[]> => {
  const namespace = await someNamespace(inquiry);
  const place = namespace === undefined ? {} : { namespace };
  const needed: NeededRight[] = [
    ...withVerbs(
      ['list', 'watch'],
      { group: 'extensions.gardener.cloud', resource: 'clusters' },
      'to know which shoots there are',
    ),
    ...secretNames(settings).flatMap((name) =>
      withVerbs(['list', 'watch'], { group: '', resource: 'secrets', name }, 'to reach the API servers of shoots'),
    ),
    ...withVerbs(
      ['list'],
      { group: 'machine.sapcloud.io', resource: 'machines', ...place },
      'to judge a shoot whose leases have expired',
    ),
  ];
  needed.push(...(await forApiServer(settings.apiServerRef, inquiry)));
  for (const { ref } of settings.dependentResources) needed.push(...(await forDependent(ref, place, inquiry)));
  return needed;
};
