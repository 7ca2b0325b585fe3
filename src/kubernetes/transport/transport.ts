import { ApiError, type ConnectionFault, type ExchangePhase, isApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { connectionError } from './connection-error.ts';
import { ConnectionPool, type PoolOptions } from './connection-pool.ts';
import { authority } from './endpoint.ts';
import type { Outgoing } from './exchange.ts';
import { createScope } from './scope.ts';

export interface TransportOptions extends PoolOptions {
  readonly userAgent: string;
  /** Name of the server in errors. Default `host:port`; a description if the address is secret. */
  readonly target?: string;
}

export interface Transport extends Kube {
  /** Closes all connections; requests in flight fail. */
  close(): void;
}

const outgoingOf = (request: KubeRequest, options: TransportOptions): Outgoing => {
  const { endpoint, userAgent } = options;
  const query = new URLSearchParams(request.query).toString();
  return {
    method: request.method,
    path: `${endpoint.basePath}${request.path}${query === '' ? '' : `?${query}`}`,
    headers: { host: authority(endpoint), 'user-agent': userAgent, ...request.headers },
    body: request.body,
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
  const pool = new ConnectionPool(options);

  const request: Kube['request'] = async (request) => {
    const { method, path, timeoutMs } = request;
    request.signal.throwIfAborted();
    let phase = 'connecting' as ExchangePhase;
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
    const beforeSend = (): void => {
      request.beforeSend?.();
      phase = 'waiting for the answer';
    };
    try {
      const connection = await pool.borrow({ signal: scope.signal, fresh: timeoutMs === undefined });
      const body = connection.send(outgoingOf(request, options), { beforeSend, scope, clock, classify });
      const head = await body.head;
      phase = 'reading the answer';
      return { ...head, body };
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
