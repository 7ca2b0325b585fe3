import { type Scope, authority, connectionError, createScope, dial, joinHeaders } from '../transport/index.ts';
import { createHash, randomBytes } from 'node:crypto';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../ports/clock.ts';
import { ApiError, type ExchangePhase } from '../api/errors.ts';
import type { ShootPolicy } from '../api/shoot-connection.ts';
import type { TunnelConnector, TunnelTarget } from '../api/tunnel-connection.ts';
import { resourcePath } from '../api/resource-path.ts';
import { readFailure } from '../client/index.ts';
import { type CachedKubeconfig, type KubeconfigCache, createKubeconfigCache } from './kubeconfig-cache.ts';
import { closeFrame } from './port-stream.ts';

/**
 * Subprotocol that every API server passes on to the kubelet (`kubelet/pkg/cri/streaming/portforward/websocket.go`). Messages begin with the number of a
 * channel: 0 for data, 1 for errors.
 */
export const channelProtocol = 'v4.channel.k8s.io';
/** The subprotocol that API servers since 1.30 translate (KEP-4006; apimachinery's `pkg/util/portforward/constants.go`), and the one of all. */
const protocols = ['SPDY/3.1+portforward.k8s.io', channelProtocol];

/** RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const keyBytes = 16;

export interface TunnelOptions {
  readonly clock: Clock;
  readonly userAgent: string;
}

export interface TunnelConnectorOptions extends TunnelOptions {
  /** Cache that may be shared with other connectors. Default: a new one, without proxies of an environment. */
  readonly known?: KubeconfigCache;
}

interface Upgrade {
  /** Path without the query, for messages. */
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Expected value of `Sec-WebSocket-Accept`. */
  readonly accept: string;
}

/** A port of a pod. */
export type PodPort = Pick<TunnelTarget, 'namespace' | 'pod' | 'port'>;

/** How the API server of the pod is reached. */
export interface TunnelAccess extends CachedKubeconfig {
  readonly protocols: readonly string[];
}

const upgradeOf = (access: TunnelAccess, to: PodPort, userAgent: string): Upgrade => {
  const { endpoint, authorization, protocols: offered } = access;
  // Not through the Random port: only a real server sees it, as it does the random numbers of TLS.
  const key = randomBytes(keyBytes).toString('base64');
  const pod = resourcePath({ apiVersion: 'v1', resource: 'pods', namespace: to.namespace, name: to.pod });
  const path = `${pod}/portforward`;
  return {
    path,
    url: `${endpoint.basePath}${path}?ports=${to.port}`,
    headers: {
      host: authority(endpoint),
      'user-agent': userAgent,
      ...(authorization === undefined ? {} : { authorization }),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': offered.join(', '),
    },
    accept: createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64'),
  };
};

/** Resolves with the head of any response. On abort, this and reading the body reject with the signal's reason. */
const answerOn = (socket: Socket, { url, headers }: Upgrade, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ method: 'GET', path: url, headers, createConnection: () => socket });
    const abort = (): void => {
      request.destroy();
      reject(signal.reason as Error);
    };
    const lost = Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' });
    request.on('upgrade', (response, _socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(response);
    });
    request.on('response', (response) => resolve(response));
    request.on('error', reject);
    request.on('close', () => {
      signal.removeEventListener('abort', abort);
      reject(lost);
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    request.end();
  });

/** Throws an ApiError if the response does not open a WebSocket. */
const checkAnswer = async (
  response: IncomingMessage,
  { path, accept }: Upgrade,
  reading: { readonly clock: Clock; readonly scope: Scope },
): Promise<void> => {
  const malformed = (problem: string): ApiError =>
    new ApiError({ code: 'MalformedResponse', message: `GET ${path}: ${problem}` });
  const { statusCode: status = 0 } = response;
  const headers = joinHeaders(response.headersDistinct);
  if (status >= 300) throw await readFailure({ status, headers, body: response }, { method: 'GET', path }, reading);
  if (status !== 101) throw malformed(`the answer is ${status} and no upgrade of the connection`);
  if (headers['sec-websocket-accept'] !== accept) throw malformed('the answer is none to our WebSocket handshake');
};

/**
 * Opens a WebSocket to `pods/portforward`, and resolves with its connection. The API server upgrades it only after it has reached the kubelet and the
 * kubelet has agreed. Rejects with an ApiError, and with `signal.reason` on abort.
 */
export const openTunnel = async (
  access: TunnelAccess,
  to: PodPort,
  { signal, clock, userAgent }: TunnelOptions & { readonly signal: AbortSignal },
): Promise<Socket> => {
  const upgrade = upgradeOf(access, to, userAgent);
  let phase: ExchangePhase = 'connecting';
  let socket: Socket | undefined;
  signal.throwIfAborted();
  const scope = createScope({ signal, clock });
  try {
    socket = await dial({ endpoint: access.endpoint, security: access.security, signal: scope.signal, clock });
    phase = 'waiting for the answer';
    const response = await answerOn(socket, upgrade, scope.signal);
    phase = 'reading the answer';
    await checkAnswer(response, upgrade, { clock, scope });
    return socket;
  } catch (error) {
    socket?.destroy();
    signal.throwIfAborted();
    const reason: unknown = scope.signal.aborted ? scope.signal.reason : error;
    throw connectionError(reason, { method: 'GET', path: upgrade.path, target: access.target, phase });
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
      const socket = await openTunnel({ ...known.lookUp(kubeconfig, to), protocols }, to, { ...options, signal });
      socket.write(closeFrame());
      socket.destroySoon();
    },
  };
};

/** Applies the policy of the current configuration to a connector, which outlives configurations. */
export const withTunnelPolicy = (tunnels: TunnelConnector, { allowInsecureShoots }: ShootPolicy): TunnelConnector => ({
  connect: (kubeconfig, target, signal) =>
    tunnels.connect(kubeconfig, allowInsecureShoots === true ? { ...target, allowInsecureShoots } : target, signal),
});
