import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length <= 0xffff ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (head.length === 2) head[1] = payload.length;
  if (head.length === 4) head.writeUInt16BE(payload.length, head.writeUInt8(126, 1));
  if (head.length === 10) head.writeBigUInt64BE(BigInt(payload.length), head.writeUInt8(127, 1));
  return Buffer.concat([head, payload]);
};

/** Parses the first frame of a client; undefined if it is not whole. */
const frameIn = (bytes: Buffer): { opcode: number; payload: Buffer; rest: Buffer } | undefined => {
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head + 4) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  const [mask, from] = [bytes.subarray(head, head + 4), head + 4];
  if (bytes.length < from + length) return undefined;
  const payload = bytes.subarray(from, from + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(payload), rest: bytes.subarray(from + length) };
};

const numbered = (channel: number, bytes: Buffer | string): Buffer =>
  frameOf(2, Buffer.concat([Buffer.from([channel]), Buffer.from(bytes)]));

const forward = (socket: Duplex, port: number): void => {
  const portNumber = Buffer.from([port & 0xff, port >> 8]);
  // A ping, which a proxy between may send.
  for (const channel of [0, 1]) socket.write(numbered(channel, portNumber));
  socket.write(frameOf(9, Buffer.from('?')));
  const pod = connect(port, '127.0.0.1');
  pod.on('data', (chunk) => socket.write(numbered(0, chunk)));
  pod.on('error', ({ message }) =>
    socket.write(numbered(1, `error forwarding port ${String(port)} to pod: ${message}`)),
  );
  pod.on('close', () => socket.end(frameOf(8, Buffer.alloc(0))));
  socket.on('error', () => pod.destroy());
  // Sockets of an HTTP server stay half open.
  socket.on('end', () => socket.end());
  socket.on('close', () => pod.destroy());
  let unread = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (let frame = frameIn(unread); frame !== undefined; frame = frameIn(unread)) {
      unread = Buffer.from(frame.rest);
      if (frame.opcode === 8) pod.end();
      if (frame.opcode === 2) pod.write(frame.payload.subarray(1));
    }
  });
};

/**
 * Forwards ports of pods to this machine's, over the WebSocket of a kubelet (`handleWebSocketStreams` of k8s.io/kubelet, pkg/cri/streaming/portforward), which
 * speaks `v4.channel.k8s.io` alone. Returns the requests that it has upgraded.
 */
export const servePortForward = (server: Server): readonly IncomingMessage[] => {
  const seen: IncomingMessage[] = [];
  server.on('upgrade', (message: IncomingMessage, socket: Duplex) => {
    const { headers, url = '' } = message;
    const isOurs = /\/port[fF]orward/.test(url) && headers['sec-websocket-protocol'] === 'v4.channel.k8s.io';
    if (!isOurs) {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    seen.push(message);
    const key = String(headers['sec-websocket-key']);
    const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    const chosen = [`Sec-WebSocket-Accept: ${accept}`, 'Sec-WebSocket-Protocol: v4.channel.k8s.io'];
    socket.write(`${[...head, ...chosen].join('\r\n')}\r\n\r\n`);
    forward(
      socket,
      Number(
        new URL(url, 'http://kubelet').searchParams.get('ports') ??
          new URL(url, 'http://kubelet').searchParams.get('port'),
      ),
    );
  });
  return seen;
};
