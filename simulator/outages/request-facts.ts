import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { requestKind } from '../network/index.ts';
import type { Occurrence } from './history.ts';
import type { OwnerOf } from './owners.ts';

export type RequestEvent = Extract<Occurrence, { kind: 'request' }>;
export type RequestNews = Pick<RequestEvent, 'stage' | 'status' | 'isServerDown' | 'isConnected'>;

/** Prefix of the name of a shoot's API server at its public address. */
const outsidePrefix = 'outside/';

const objectPath = /\/namespaces\/([^/]+)\/[^/]+(?:\/([^/]+))?/;

const clusterSelector = /^cluster\.x-k8s\.io\/cluster-name=(.+)$/;

interface Listener {
  readonly server: string;
  readonly ownerOf: OwnerOf;
  /** Names of shoots by the names that probers use. */
  readonly clusters: ReadonlyMap<string, string>;
}

/** Returns the properties of a request that invariants use. */
export const aboutOf = (
  request: KubeRequest,
  { server, ownerOf, clusters }: Listener,
): Pick<RequestEvent, 'verb' | 'resource' | 'shoot' | 'name' | 'preconditions'> => {
  const { verb, resource } = requestKind(request);
  if (server !== 'seed') return { verb, resource, shoot: server.replace(outsidePrefix, '') };
  const [, namespace = '', name] = objectPath.exec(request.path) ?? [];
  const [, cluster] = clusterSelector.exec(request.query?.labelSelector ?? '') ?? [];
  const owned = ownerOf(namespace, name ?? '');
  const shoot = cluster === undefined ? owned?.shoot : clusters.get(`${namespace}/${cluster}`);
  return {
    verb,
    resource,
    ...(shoot === undefined ? {} : { shoot }),
    ...(name === undefined ? {} : { name: owned?.name ?? name }),
    ...(verb === 'delete' ? preconditionsOf(request) : {}),
  };
};

const preconditionsOf = ({ body }: KubeRequest): Pick<RequestEvent, 'preconditions'> => {
  const text = typeof body === 'string' ? body : Buffer.from(body ?? []).toString();
  const options = (text === '' ? {} : JSON.parse(text)) as Pick<RequestEvent, 'preconditions'>;
  return options.preconditions === undefined ? {} : { preconditions: options.preconditions };
};

/** Returns the facts that a failure without a response shows. */
export const failureFacts = (error: unknown): Pick<RequestEvent, 'isServerDown' | 'isConnected'> => {
  if (!(error instanceof ApiError)) return { isServerDown: false };
  const { code, fault } = error;
  const isServerDown = ['ConnectionError', 'Timeout', 'ServerError', 'MalformedResponse'].includes(code);
  // A name that cannot be resolved is a fault on our side.
  return { isServerDown: isServerDown && fault.code !== 'ENOTFOUND', isConnected: fault.phase !== 'connecting' };
};
