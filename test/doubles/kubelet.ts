import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

const forward = (websocket: WebSocket, port: number): void => {
  const send = (channel: number, bytes: Buffer | string): void =>
    websocket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(bytes)]));
  for (const channel of [0, 1]) send(channel, Buffer.from([port & 0xff, port >> 8]));
  const pod = connect(port, '127.0.0.1');
  pod.on('data', (chunk: Buffer) => send(0, chunk));
  pod.on('error', ({ message }) => send(1, `error forwarding port ${String(port)} to pod: ${message}`));
  pod.on('close', () => websocket.close());
  websocket.on('message', (message: Buffer) => pod.write(message.subarray(1)));
  websocket.on('close', () => pod.destroy());
};

/**
 * Forwards ports of pods to this machine's, over the WebSocket of a kubelet (`handleWebSocketStreams` of k8s.io/kubelet, pkg/cri/streaming/portforward), which
 * speaks `v4.channel.k8s.io` alone. Returns the requests that it has upgraded.
 */
export const servePortForward = (server: Server): readonly IncomingMessage[] => {
  const seen: IncomingMessage[] = [];
  const websockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { headers, url = '' } = message;
    const isOurs = /\/port[fF]orward/.test(url) && headers['sec-websocket-protocol'] === 'v4.channel.k8s.io';
    if (!isOurs) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    seen.push(message);
    const { searchParams } = new URL(url, 'http://kubelet');
    websockets.handleUpgrade(message, socket, head, (websocket) =>
      forward(websocket, Number(searchParams.get('ports') ?? searchParams.get('port'))),
    );
  });
  return seen;
};
