import type { Call } from '../api/call.ts';
import { decodeList, decodeObject, decodeString, optionalBoolean } from '../api/decode.ts';
import { unlessNotFound } from '../api/errors.ts';
import type { CallOptions, KubeClient } from '../api/kube.ts';
import { groupVersionPath } from '../api/resource-path.ts';

/** Result of discovery for a kind of a group version. */
export type ResolvedKind =
  | {
      readonly kind: 'served';
      /** Plural name, as used in paths. */
      readonly resource: string;
      readonly namespaced: boolean;
      /** True if there is a `scale` subresource. */
      readonly hasScale: boolean;
    }
  | { readonly kind: 'not-served'; readonly problem: string };

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const decodeResource = (json: unknown, path: string): ServedResource => {
  const resource = decodeObject(json, path);
  return {
    name: decodeString(resource.name, `${path}.name`),
    kind: decodeString(resource.kind, `${path}.kind`),
    namespaced: optionalBoolean(resource.namespaced, `${path}.namespaced`) ?? false,
  };
};

/** Lists a group version as an `APIResourceList`, which has `resources` where other lists have `items`. */
const discover = (apiVersion: string): Call<readonly ServedResource[]> => ({
  method: 'GET',
  path: groupVersionPath(apiVersion),
  decode: decodeList(decodeResource, undefined, 'resources'),
});

/**
 * Resolves a kind by the server's discovery. A missing kind or group version is a result, not an error, because it may be added later. Any other
 * failure rejects with its ApiError.
 */
export const resolveKind = async (
  client: KubeClient,
  wanted: { readonly apiVersion: string; readonly kind: string },
  options: CallOptions,
): Promise<ResolvedKind> => {
  const { apiVersion, kind } = wanted;
  const problem = `the API server does not serve ${kind} of ${apiVersion}`;
  const answer = await unlessNotFound(client.call(discover(apiVersion), options));
  const resources = answer?.value ?? [];
  // Subresources are listed as `deployments/scale`, with a kind of their own.
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
  if (found === undefined) return { kind: 'not-served', problem };
  const hasScale = resources.some((resource) => resource.name === `${found.name}/scale`);
  return { kind: 'served', resource: found.name, namespaced: found.namespaced, hasScale };
};

/** Lists the kinds of a group version; undefined if it is not served. Rejects with an ApiError for any other failure. */
export const listKinds = async (
  client: KubeClient,
  apiVersion: string,
  options: CallOptions,
): Promise<readonly string[] | undefined> => {
  const answer = await unlessNotFound(client.call(discover(apiVersion), options));
  return answer?.value.filter(({ name }) => !name.includes('/')).map(({ kind }) => kind);
};

const decodeVersion = (item: unknown, path: string): string =>
  decodeString(decodeObject(item, path).groupVersion, `${path}.groupVersion`);

/** Lists the `apiVersion`s of an API group in the server's order of preference; none if the group is not served. Not for the core group. */
export const listVersions = async (
  client: KubeClient,
  group: string,
  options: CallOptions,
): Promise<readonly string[]> => {
  const decode = decodeList(decodeVersion, undefined, 'versions');
  const path = `/apis/${encodeURIComponent(group)}`;
  return (await unlessNotFound(client.call({ method: 'GET', path, decode }, options)))?.value ?? [];
};
