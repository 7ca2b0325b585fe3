import { type Socket, isIPv4, isIPv6 } from 'node:net';
import type { Endpoint, ProxyEndpoint } from './endpoint.ts';
import { dialError, established } from './established.ts';

/** A connection to `proxy` that it is to extend to `endpoint`. */
export interface ProxyHop {
  readonly endpoint: Endpoint;
  readonly proxy: ProxyEndpoint;
  readonly signal: AbortSignal;
}

const version = 5;
const method = { none: 0, password: 2 } as const;
const addressType = { ipv4: 1, name: 3, ipv6: 4 } as const;

/** Resolves with the next `count` bytes, and leaves what follows to the next reader. */
const take = async (socket: Socket, count: number, signal: AbortSignal): Promise<Buffer> => {
  let taken = Buffer.alloc(0);
  while (taken.length < count) {
    const chunk = socket.read() as Buffer | null;
    if (chunk !== null) taken = Buffer.concat([taken, chunk]);
    else if (socket.destroyed) throw dialError('ECONNRESET', 'the proxy closed the connection');
    else await established(socket, 'readable', signal);
  }
  if (taken.length > count) socket.unshift(taken.subarray(count));
  return taken.subarray(0, count);
};

const counted = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw dialError('EPROXYLENGTH', 'SOCKS5 has names of 255 bytes');
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
};

/** Returns the address in RFC 1928, section 5. A name stays a name: the proxy resolves it, as it does for Go with socks5 and socks5h. */
const addressOf = (host: string): Buffer => {
  if (isIPv4(host)) return Buffer.of(addressType.ipv4, ...host.split('.').map(Number));
  if (isIPv6(host)) return Buffer.concat([Buffer.of(addressType.ipv6), bytesOfIPv6(host)]);
  return Buffer.concat([Buffer.of(addressType.name), counted(host)]);
};

const bytesOfIPv6 = (host: string): Buffer => {
  // The URL parser writes an address in one form only, without an IPv4 part.
  const [head = '', tail] = new URL(`http://[${host.split('%', 1)[0] ?? ''}]`).hostname.slice(1, -1).split('::');
  const groups = (part = ''): readonly string[] => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
};

/** Authenticates as RFC 1929 says, if the proxy asks for it. */
const authenticate = async (raw: Socket, { proxy, signal }: ProxyHop): Promise<void> => {
  const { credentials } = proxy;
  const methods = credentials === undefined ? [method.none] : [method.none, method.password];
  raw.write(Buffer.of(version, methods.length, ...methods));
  const [answered, chosen] = await take(raw, 2, signal);
  if (answered !== version) throw dialError('EPROXYNOTSOCKS', 'the proxy does not speak SOCKS5');
  if (chosen === method.none) return;
  if (chosen !== method.password || credentials === undefined) throw dialError('EPROXYAUTH', 'no method fits');
  const parts = [credentials.username, credentials.password].map(counted);
  raw.write(Buffer.concat([Buffer.of(1), ...parts]));
  const [, status] = await take(raw, 2, signal);
  if (status !== 0) throw dialError('EPROXYAUTH', 'the proxy refused the credentials');
};

const boundBytes: Readonly<Record<number, number>> = { [addressType.ipv4]: 4, [addressType.ipv6]: 16 };

/** Asks a SOCKS5 proxy (RFC 1928) to extend `raw` to the endpoint; resolves once it has. */
export const connectThroughSocks = async (raw: Socket, hop: ProxyHop): Promise<Socket> => {
  const { endpoint, signal } = hop;
  try {
    await authenticate(raw, hop);
    const port = Buffer.of(endpoint.port >> 8, endpoint.port & 0xff);
    raw.write(Buffer.concat([Buffer.of(version, 1, 0), addressOf(endpoint.host), port]));
    const [, reply = 0, , type = 0] = await take(raw, 4, signal);
    if (reply !== 0) throw dialError(`EPROXY${reply}`, 'the proxy refused');
    const length = boundBytes[type] ?? (await take(raw, 1, signal)).readUInt8();
    await take(raw, length + 2, signal);
    return raw;
  } catch (error) {
    raw.destroy();
    throw error;
  }
};
