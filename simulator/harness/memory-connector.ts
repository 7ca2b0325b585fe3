import type { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { ShootConnector } from '../../src/kubernetes/api/shoot-connection.ts';
import {
  createKubeClient,
  longestRetryAfterMs,
  staticCredentials,
  withCredentials,
} from '../../src/kubernetes/client/index.ts';
import { type ShootEndpoint, parseUntrustedKubeconfig, refuseInsecure } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { OpenRequests, connectionError } from '../network/index.ts';

export interface MemoryConnectorOptions {
  readonly clock: Clock;
  /** Returns the API server at `scheme://host`, undefined if there is none. */
  readonly resolve: (url: string) => Kube | undefined;
  readonly onConnect: (url: string) => void;
}

const closed = (): ApiError => connectionError('the connection was closed');

/** Creates a connector that reads kubeconfigs as the real one does, but connects to API servers in memory. */
export const createMemoryConnector = ({ clock, resolve, onConnect }: MemoryConnectorOptions): ShootConnector => {
  const known = new Map<string, ShootEndpoint>();
  const read = (kubeconfig: string): ShootEndpoint => {
    const shoot = known.get(kubeconfig) ?? parseUntrustedKubeconfig(kubeconfig);
    known.set(kubeconfig, shoot);
    return shoot;
  };
  const clientFor: ShootConnector['clientFor'] = (kubeconfig, policy) => {
    const shoot = read(kubeconfig);
    refuseInsecure(shoot, policy);
    const { endpoint, authorization } = shoot;
    const url = `${endpoint.protocol}//${endpoint.host}`;
    let isConnected = false;
    let isClosed = false;
    const open = new OpenRequests<undefined>();
    const transport: Kube = {
      request: async (request) => {
        if (isClosed) throw closed();
        request.signal.throwIfAborted();
        const kube = resolve(url);
        if (kube === undefined) {
          throw connectionError(`${url}: no such host`, { code: 'ENOTFOUND', phase: 'connecting' });
        }
        if (!isConnected) onConnect(url);
        isConnected = true;
        return open.send(request, { kube, note: undefined });
      },
    };
    const close = (): void => {
      isClosed = true;
      open.abort(closed);
    };
    const kube = withCredentials(transport, staticCredentials(authorization));
    const client = createKubeClient({ kube, clock, longestRetryAfterMs: longestRetryAfterMs.shoot });
    return { client, server: `${endpoint.host}:${String(endpoint.port)}`, close };
  };
  return { clientFor };
};
