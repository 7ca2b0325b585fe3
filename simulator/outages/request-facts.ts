import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { requestKind } from '../network/index.ts';
import type { Occurrence } from './history.ts';

export type RequestEvent = Extract<Occurrence, { kind: 'request' }>;
export type RequestNews = Pick<RequestEvent, 'stage' | 'status' | 'isServerDown' | 'isConnected'>;

/** Prefix of the name of a shoot's API server at its public address. */
const outsidePrefix = 'outside/';

const objectPath = /\/namespaces\/([^/]+)\/[^/]+(?:\/([^/]+))?/;

interface Listener {
  readonly server: string;
  /** Names of shoots by their namespaces. */
  readonly shoots: ReadonlyMap<string, string>;
}

/** Returns the properties of a request that invariants use. */
export const aboutOf = (
  request: KubeRequest,
  { server, shoots }: Listener,
): Pick<RequestEvent, 'verb' | 'resource' | 'shoot' | 'name' | 'preconditions'> => {
  const { verb, resource } = requestKind(request);
  if (server !== 'seed') return { verb, resource, shoot: server.replace(outsidePrefix, '') };
  const [, namespace = '', name] = objectPath.exec(request.path) ?? [];
  const shoot = shoots.get(namespace);
  return {
    verb,
    resource,
    ...(shoot === undefined ? {} : { shoot }),
    ...(name === undefined ? {} : { name }),
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
