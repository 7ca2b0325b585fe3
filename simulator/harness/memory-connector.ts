import { ApiError, type ConnectionFault } from '../../src/kubernetes/api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { ShootConnector } from '../../src/kubernetes/api/shoot-connection.ts';
import {
  createKubeClient,
  longestRetryAfterMs,
  staticCredentials,
  withCredentials,
} from '../../src/kubernetes/client/index.ts';
import { type ShootEndpoint, parseUntrustedKubeconfig, refuseInsecure } from '../../src/kubernetes/kubeconfig/index.ts';
import type { Clock } from '../../src/ports/clock.ts';

export interface MemoryConnectorOptions {
  readonly clock: Clock;
  /** The API server behind `scheme://host`, undefined when there is none. */
  readonly resolve: (url: string) => Kube | undefined;
  readonly onConnect: (url: string) => void;
}

const noSuchHost = (url: string): ApiError =>
  new ApiError({
    code: 'ConnectionError',
    message: `${url}: no such host`,
    cause: { code: 'ENOTFOUND', phase: 'connecting' } satisfies ConnectionFault,
  });

/** `body`, and `finish` as soon as it has been read to its end, has failed or was left. */
const followed = (body: KubeResponse['body'], finish: () => void): KubeResponse['body'] => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      next: () => {
        const next = chunks.next();
        next.then(({ done }) => done === true && finish(), finish);
        return next;
      },
      return: () => {
        finish();
        return chunks.return?.() ?? Promise.resolve({ done: true, value: undefined });
      },
    };
  },
});

/** The requests of one connection, which end when it is closed. */
const closable = (kube: Kube): Kube & { close(): void } => {
  const open = new Set<AbortController>();
  const closed = (): ApiError => new ApiError({ code: 'ConnectionError', message: 'the connection was closed' });
  let isClosed = false;
  const request = async (request: KubeRequest): ReturnType<Kube['request']> => {
    if (isClosed) throw closed();
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (): void => controller.abort(request.signal.reason);
    const finish = (): void => {
      open.delete(controller);
      request.signal.removeEventListener('abort', abort);
    };
    request.signal.throwIfAborted();
    request.signal.addEventListener('abort', abort, { once: true });
    open.add(controller);
    try {
      const response = await kube.request({ ...request, signal });
      return { ...response, body: followed(response.body, finish) };
    } catch (error) {
      finish();
      throw error;
    }
  };
  return {
    request,
    close: () => {
      isClosed = true;
      for (const controller of [...open]) controller.abort(closed());
      open.clear();
    },
  };
};

/** Reads kubeconfigs as the real connector does, and reaches in-memory API servers instead of sockets. */
export const createMemoryConnector = ({ clock, resolve, onConnect }: MemoryConnectorOptions): ShootConnector => {
  const known = new Map<string, ShootEndpoint>();
  const read = (kubeconfig: string): ShootEndpoint => {
    const shoot = known.get(kubeconfig) ?? parseUntrustedKubeconfig(kubeconfig);
    known.set(kubeconfig, shoot);
    return shoot;
  };
  const connect: ShootConnector['connect'] = (kubeconfig, policy) => {
    const shoot = read(kubeconfig);
    refuseInsecure(shoot, policy);
    const { endpoint, authorization } = shoot;
    const url = `${endpoint.protocol}//${endpoint.host}`;
    let isConnected = false;
    const transport = closable({
      request: async (request) => {
        const kube = resolve(url);
        if (kube === undefined) throw noSuchHost(url);
        if (!isConnected) onConnect(url);
        isConnected = true;
        return kube.request(request);
      },
    });
    const kube = withCredentials(transport, staticCredentials(authorization));
    const client = createKubeClient({ kube, clock, longestRetryAfterMs: longestRetryAfterMs.shoot });
    return { client, close: () => transport.close() };
  };
  return { connect };
};
