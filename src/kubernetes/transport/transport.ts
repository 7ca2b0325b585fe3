import type { Clock } from '../../ports/clock.ts';
import { ApiError, type ConnectionFault, type ExchangePhase, isApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { connectionError } from './connection-error.ts';
import { ConnectionPool } from './connection-pool.ts';
import { type Endpoint, authority } from './endpoint.ts';
import { type Outgoing, bodyOf, headersOf, sendOn } from './exchange.ts';
import { createScope } from './scope.ts';
import type { Security } from './security.ts';

/** kube-apiserver closes idle connections after 90 s. We close them earlier, so that no request is sent on a closing one. */
const defaultIdleMs = 60_000;

export interface TransportOptions {
  readonly endpoint: Endpoint;
  /**
   * Called before each exchange. Resolves with the same object as long as the settings are unchanged; a new one makes old connections drain. Rejects with
   * an ApiError.
   */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Name of the server in errors. Default `host:port`; a description if the address is secret. */
  readonly target?: string;
  /** Maximum number of open connections. Default: no limit. */
  readonly maxConnections?: number;
  readonly idleMs?: number;
  /** As `PoolOptions.connectTimeoutMs`. */
  readonly connectTimeoutMs?: number;
}

export interface Transport extends Kube {
  /** Closes all connections; requests in flight fail. */
  close(): void;
}

const outgoingOf = (request: KubeRequest, options: TransportOptions): Outgoing => {
  const { endpoint, userAgent } = options;
  const query = new URLSearchParams(request.query).toString();
  const { body } = request;
  return {
    method: request.method,
    target: `${endpoint.basePath}${request.path}${query === '' ? '' : `?${query}`}`,
    headers: {
      host: authority(endpoint),
      'user-agent': userAgent,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...request.headers,
    },
    body,
    beforeSend: request.beforeSend,
  };
};

/** Returns true if the caller gave up for a reason other than its own timeout, which aborts its signal, too. */
const hasLostInterest = ({ aborted, reason }: AbortSignal): boolean => aborted && !isApiError(reason, 'Timeout');

/**
 * Creates a transport: HTTP/1.1 over its own connections. Redirects are responses like any other. A request without a timeout (a watch) gets a new
 * connection, because nothing would detect in time that an idle one is half-open.
 */
export const createTransport = (options: TransportOptions): Transport => {
  const { endpoint, clock } = options;
  const target = options.target ?? authority(endpoint);
  const pool = new ConnectionPool({ maxConnections: Number.POSITIVE_INFINITY, idleMs: defaultIdleMs, ...options });

  const request: Kube['request'] = async (request) => {
    const { method, path, timeoutMs } = request;
    request.signal.throwIfAborted();
    let phase: ExchangePhase = 'connecting';
    const scope = createScope({
      signal: request.signal,
      clock,
      timeoutMs,
      onTimeout: () =>
        new ApiError({
          code: 'Timeout',
          message: `${method} ${path}: no response within ${Math.round(timeoutMs ?? 0)} ms (${phase}, ${target})`,
          cause: { code: 'ETIMEDOUT', phase } satisfies ConnectionFault,
        }),
    });
    const classify = (error: unknown): ApiError => connectionError(error, { method, path, target, phase });
    try {
      const connection = await pool.borrow({ signal: scope.signal, fresh: timeoutMs === undefined });
      phase = 'waiting for the answer';
      const incoming = await sendOn(connection, outgoingOf(request, options), scope.signal);
      const { response } = incoming;
      phase = 'reading the answer';
      return {
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: bodyOf(incoming, { connection, scope, clock, classify }),
      };
    } catch (error) {
      scope.end();
      // If one connection hangs or breaks, the idle ones are suspect, too: the next attempt opens a new one.
      if (phase === 'waiting for the answer' && !hasLostInterest(request.signal)) pool.discardIdle();
      if (scope.signal.aborted) throw scope.signal.reason;
      throw classify(error);
    }
  };

  return { request, close: () => pool.close() };
};
