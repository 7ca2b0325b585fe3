import { ADDRCONFIG, promises as dns } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type PeerCertificate, checkServerIdentity, connect as connectTls } from 'node:tls';
import { Socks5Client } from 'undici/lib/core/socks5-client.js';
import type { Clock } from '../../ports/clock.ts';
import { abortable } from './abortable.ts';
import { type Endpoint, type ProxyEndpoint, authority } from './endpoint.ts';
import { isLinkLocal, linkLocalError, refusingLinkLocal } from './link-local.ts';
import { type Lookup, shareLookups } from './lookup.ts';
import { type Security, createSecurity } from './security.ts';

/** Silence after which the kernel probes the peer: ten times, a second apart (libuv), then the socket fails with ETIMEDOUT. */
const tcpKeepAliveMs = 15_000;

/**
 * Timeout in milliseconds of a connection to each address of a name but the last. Node's default, 250, is shorter than many a good way. Go leaves each address
 * at least 2 s (`partialDeadline` in net/dial.go).
 */
const attemptTimeoutMs = 3_000;

/** Maximum number of TLS session tickets per connection. Servers send one or two; each costs us as much as a small response. */
const mostTickets = 64;

/** One for the process, like the threads that it saves. The hint is that of Node's own lookup for a connection. */
const lookup = shareLookups((host) => dns.lookup(host, { all: true, hints: ADDRCONFIG }));
const lookupElsewhere = refusingLinkLocal(lookup);

/** Creates the error of a failure that Node reports by an event without an error, or not at all. */
const dialError = (code: string, message: string): Error => Object.assign(new Error(message), { code });

const ignore = (): void => undefined;

/** Settles when `socket` emits `event`, fails or closes; on abort destroys it and rejects with the signal's reason. */
const established = <S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<S> =>
  abortable(signal, (resolve, reject) => {
    const succeed = (): void => resolve(socket);
    const closed = (): void => reject(dialError('ECONNRESET', 'closed before it was established'));
    // Never removed: the failure of an idle connection is noticed by 'close', and must not be an uncaught error.
    socket.on('error', ignore);
    socket.on(event, succeed).on('error', reject).on('close', closed);
    return (isEstablished) => {
      socket.off(event, succeed).off('error', reject).off('close', closed);
      if (!isEstablished) socket.destroy();
    };
  });

/** Node connects to the addresses that this returns, without a lookup of its own, which could return others. */
const asNodes =
  (find: Lookup, clock: Clock): LookupFunction =>
  (host, _options, callback) =>
    void find(host, clock).then(
      (found) => callback(null, found),
      (error: unknown) => callback(error as Error, []),
    );

const dialTcp = async ({ endpoint, signal, clock }: Omit<DialOptions, 'security'>): Promise<Socket> => {
  const { host, port } = endpoint.proxy ?? endpoint;
  const isUntrusted = endpoint.untrusted === true;
  // No address is looked up.
  if (isUntrusted && (isLinkLocal(host) || isLinkLocal(endpoint.host))) throw linkLocalError();
  const socket = connectTcp({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    lookup: asNodes(isUntrusted ? lookupElsewhere : lookup, clock),
  });
  return established(socket, 'connect', signal);
};

interface Handshake {
  /** Name in the server's certificate. */
  readonly name: string;
  readonly security: Security;
  readonly signal: AbortSignal;
}

/** Checks the name as Go does, which takes none from the subject (RFC 6125, appendix B.2). */
const checkName = (name: string, certificate: PeerCertificate): Error | undefined =>
  checkServerIdentity(name, { ...certificate, subject: { ...certificate.subject, CN: '' } });

const startTls = async (raw: Socket, { name, security, signal }: Handshake): Promise<Socket> => {
  const session = security.session;
  const socket = connectTls({
    socket: raw,
    // An address is verified against the certificate but never sent as SNI (RFC 6066, section 3).
    host: name,
    servername: isIP(name) === 0 ? name : '',
    secureContext: security.context,
    rejectUnauthorized: security.rejectUnauthorized,
    checkServerIdentity: checkName,
    ALPNProtocols: ['http/1.1'],
    ...(session === undefined ? {} : { session }),
  });
  let tickets = 0;
  socket.on('session', (ticket: Buffer) => {
    security.session = ticket;
    tickets += 1;
    if (tickets > mostTickets) socket.destroy();
  });
  try {
    return await established(socket, 'secureConnect', signal);
  } catch (error) {
    raw.destroy();
    if (security.session === session) security.session = undefined;
    throw error;
  }
};

/** A connection to `proxy` that it is to extend to `endpoint`. */
interface ProxyHop {
  readonly endpoint: Endpoint;
  readonly proxy: ProxyEndpoint;
  readonly signal: AbortSignal;
}

/** Asks a SOCKS5 proxy, which resolves the host name; resolves once `raw` is connected to the endpoint. */
const connectThroughSocks = (raw: Socket, { endpoint, proxy, signal }: ProxyHop): Promise<Socket> =>
  abortable(signal, (resolve, reject) => {
    const client = new Socks5Client(raw, proxy.credentials);
    client.on('authenticated', () => client.connect(endpoint.host, endpoint.port));
    client.on('connected', () => resolve(raw));
    client.on('error', reject);
    client.on('close', () => reject(dialError('ECONNRESET', 'the proxy closed the connection')));
    client.handshake();
    return (isOpen) => {
      if (!isOpen) raw.destroy();
    };
  });

/** Sends an HTTP CONNECT to the proxy; resolves once `raw` is connected to the endpoint. */
const connectThroughProxy = (raw: Socket, { endpoint, proxy, signal }: ProxyHop): Promise<Socket> =>
  abortable(signal, (resolve, reject) => {
    const target = authority(endpoint);
    const { credentials } = proxy;
    const pair = credentials === undefined ? '' : `${credentials.username}:${credentials.password}`;
    const authorization = pair === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
    const request = httpRequest({
      method: 'CONNECT',
      path: target,
      createConnection: () => raw,
      headers: { host: target, ...authorization },
    });
    request.on('error', reject);
    request.on('close', () => reject(dialError('ECONNRESET', 'the proxy closed the connection')));
    request.on('connect', (response, _socket, head) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) reject(dialError(`EPROXY${status}`, 'the proxy refused'));
      else {
        if (head.length > 0) raw.unshift(head);
        resolve(raw);
      }
    });
    request.end();
    return (isOpen) => {
      if (isOpen) return;
      request.destroy();
      raw.destroy();
    };
  });

export interface DialOptions {
  readonly endpoint: Endpoint;
  /** TLS settings; unused for http. */
  readonly security: Security;
  /** Aborting destroys the unfinished connection and rejects with the reason. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Opens one connection: TCP, through the proxy if there is one, then TLS. Rejects with Node's own error. */
export const dial = async ({ endpoint, security, signal, clock }: DialOptions): Promise<Socket> => {
  const { proxy } = endpoint;
  let socket = await dialTcp({ endpoint, signal, clock });
  if (proxy !== undefined) {
    if (proxy.protocol === 'https:') {
      socket = await startTls(socket, { name: proxy.host, security: createSecurity({}), signal });
    }
    const tunnel = proxy.protocol === 'socks5:' ? connectThroughSocks : connectThroughProxy;
    socket = await tunnel(socket, { endpoint, proxy, signal });
  }
  if (endpoint.protocol === 'http:') return socket;
  return startTls(socket, { name: endpoint.servername ?? endpoint.host, security, signal });
};
