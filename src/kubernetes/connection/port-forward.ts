import { abortable, authority, connectionError, createScope, dial, joinHeaders } from '../transport/index.ts';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import { type ExchangePhase, ResponseError } from '../api/errors.ts';
import type { ShootPolicy } from '../api/shoot-connection.ts';
import type { TunnelConnector, TunnelTarget } from '../api/tunnel-connection.ts';
import { resourcePath } from '../api/resource-path.ts';
import { readFailure } from '../client/index.ts';
import { type CachedKubeconfig, type KubeconfigCache, createKubeconfigCache } from './kubeconfig-cache.ts';

/**
 * Subprotocol that every API server passes on to the kubelet (`kubelet/pkg/cri/streaming/portforward/websocket.go`). Messages begin with the number of a
 * channel: 0 for data, 1 for errors.
 */
export const channelProtocol = 'v4.channel.k8s.io';
/** The subprotocol that API servers since 1.30 translate (KEP-4006; apimachinery's `pkg/util/portforward/constants.go`), and the one of all. */
const protocols = ['SPDY/3.1+portforward.k8s.io', channelProtocol];

/** Maximum size of a message. A kubelet sends what it has read at once: 32 KiB (`io.Copy`). */
const mostMessageBytes = 1024 * 1024;

export interface TunnelOptions {
  readonly clock: Clock;
  readonly userAgent: string;
}

export interface TunnelConnectorOptions extends TunnelOptions {
  /** Cache that may be shared with other connectors. Default: a new one, without proxies of an environment. */
  readonly known?: KubeconfigCache;
}

/** A port of a pod. */
export type PodPort = Pick<TunnelTarget, 'namespace' | 'pod' | 'port'>;

/** How the API server of the pod is reached. */
export interface TunnelAccess extends CachedKubeconfig {
  readonly protocols: readonly string[];
}

interface Handshake {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Resolves with an open WebSocket, or with the head of a response that refuses it. Rejects with the signal's reason on abort. */
const shakeHands = async (
  socket: Socket,
  { url, headers, signal }: Handshake,
): Promise<WebSocket | IncomingMessage> => {
  // Not before it is needed: most processes open no tunnel.
  const ws = await import('ws');
  return abortable(signal, (resolve, reject) => {
    let isUpgraded = false;
    const websocket = new ws.WebSocket(url, {
      createConnection: () => socket,
      headers,
      perMessageDeflate: false,
      maxPayload: mostMessageBytes,
    });
    websocket.on('upgrade', (response) => {
      isUpgraded = true;
      // ws knows no subprotocol with a slash, so the offer is a header of ours, and its answer one that ws did not ask for.
      delete response.headers['sec-websocket-protocol'];
    });
    websocket.on('open', () => {
      // Messages wait for a reader.
      websocket.pause();
      resolve(websocket);
    });
    websocket.on('unexpected-response', (_request, response) => resolve(response));
    websocket.on('error', (error) =>
      reject(isUpgraded ? new ResponseError('the answer is none to our WebSocket handshake') : error),
    );
    return () => undefined;
  });
};

/**
 * Opens a WebSocket to `pods/portforward`. The API server upgrades the connection only after it has reached the kubelet and the kubelet has agreed.
 * Rejects with an ApiError, and with `signal.reason` on abort.
 */
export const openTunnel = async (
  access: TunnelAccess,
  to: PodPort,
  { signal, clock, userAgent }: TunnelOptions & { readonly signal: AbortSignal },
): Promise<WebSocket> => {
  const { endpoint, security, authorization, target } = access;
  const pod = resourcePath({ apiVersion: 'v1', resource: 'pods', namespace: to.namespace, name: to.pod });
  const call = { method: 'GET', path: `${pod}/portforward` } as const;
  let phase: ExchangePhase = 'connecting';
  let socket: Socket | undefined;
  signal.throwIfAborted();
  const scope = createScope({ signal, clock });
  try {
    socket = await dial({ endpoint, security, signal: scope.signal, clock });
    phase = 'waiting for the answer';
    const answer = await shakeHands(socket, {
      // ws takes only the path from it: the connection is ours.
      url: `ws://api-server${endpoint.basePath}${call.path}?ports=${to.port}`,
      headers: {
        host: authority(endpoint),
        'user-agent': userAgent,
        ...(authorization === undefined ? {} : { authorization }),
        'sec-websocket-protocol': access.protocols.join(', '),
      },
      signal: scope.signal,
    });
    if (!(answer instanceof IncomingMessage)) return answer;
    phase = 'reading the answer';
    const { statusCode: status = 0 } = answer;
    if (status < 300) throw new ResponseError(`the answer is ${status} and no upgrade of the connection`);
    const response = {
      status,
      headers: joinHeaders(answer.headersDistinct),
      body: addAbortSignal(scope.signal, answer),
    };
    throw await readFailure(response, call, { clock, scope });
  } catch (error) {
    socket?.destroy();
    signal.throwIfAborted();
    const reason: unknown = scope.signal.aborted ? scope.signal.reason : error;
    throw connectionError(reason, { ...call, target, phase });
  } finally {
    scope.end();
  }
};

/**
 * Creates a connector to pods that only opens a tunnel and closes it: that the API server upgrades it proves that the path into the shoot's network is open.
 * Each connection is new and resumes the TLS session of the last one.
 */
export const createTunnelConnector = (options: TunnelConnectorOptions): TunnelConnector => {
  const { known = createKubeconfigCache() } = options;
  return {
    connect: async (kubeconfig, to, signal) => {
      const websocket = await openTunnel({ ...known.lookUp(kubeconfig, to), protocols }, to, { ...options, signal });
      websocket.close();
      // Nobody waits for the other side to close it, too.
      websocket.terminate();
    },
  };
};

/** Applies the policy of the current configuration to a connector, which outlives configurations. */
export const withTunnelPolicy = (tunnels: TunnelConnector, { allowInsecureShoots }: ShootPolicy): TunnelConnector => ({
  connect: (kubeconfig, target, signal) =>
    tunnels.connect(kubeconfig, allowInsecureShoots === true ? { ...target, allowInsecureShoots } : target, signal),
});
