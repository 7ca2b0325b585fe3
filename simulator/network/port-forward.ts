import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import { badRequest } from '../apiserver/index.ts';

/** Constant of the WebSocket handshake; RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const protocols = ['SPDY/3.1+portforward.k8s.io', 'v4.channel.k8s.io'];
const podPath = /^(?<pod>\/api\/v1\/namespaces\/[^/]+\/pods\/(?<name>[^/]+))\/portforward(?:\?|$)/;
const statusTexts: Readonly<Record<number, string>> = { 400: 'Bad Request', 401: 'Unauthorized', 404: 'Not Found' };

export interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly kube: Kube;
  /** True if the API server can reach its kubelets; otherwise the request never gets a response. */
  readonly reachesKubelets: () => boolean;
  readonly signal: AbortSignal;
}

const head = (status: number, reason: string, headers: Readonly<Record<string, string | number>>): string =>
  [`HTTP/1.1 ${status} ${reason}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );

const refuse = (socket: Duplex, status: number, body: string): void => {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  socket.end(`${head(status, statusTexts[status] ?? 'Refused', headers)}${body}`);
};

const accept = (socket: Duplex, { headers }: IncomingMessage): void => {
  const key = headers['sec-websocket-key'] ?? '';
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const protocol = protocols.find((name) => offered.includes(name));
  const answer = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64'),
    ...(protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }),
  };
  socket.write(head(101, 'Switching Protocols', answer));
  // Nothing is forwarded. The first data, normally a close frame, ends the connection.
  socket.once('data', () => socket.end());
};

/**
 * Answers an upgrade request for `pods/portforward`. A pod that has a node gets a WebSocket; all other requests are refused as by a real
 * API server (PortForwardLocation in kubernetes `pkg/registry/core/pod/strategy.go`).
 */
export const answerUpgrade = async (request: UpgradeRequest): Promise<void> => {
  const { message, socket, kube, signal } = request;
  const { pod = message.url ?? '/', name = '' } = podPath.exec(message.url ?? '')?.groups ?? {};
  const { authorization } = message.headers;
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const found = await kube.request({ method: 'GET', path: pod, headers, signal });
  const answer = await text(found.body);
  if (found.status !== 200) {
    refuse(socket, found.status, answer);
    return;
  }
  const { spec = {} } = JSON.parse(answer) as { readonly spec?: { readonly nodeName?: string } };
  if (spec.nodeName === undefined || spec.nodeName === '') {
    refuse(socket, 400, JSON.stringify(badRequest(`pod ${name} does not have a host assigned`).status));
  } else if (request.reachesKubelets()) accept(socket, message);
};
