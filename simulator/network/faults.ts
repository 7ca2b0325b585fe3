import { type ConnectionFault, type ExchangePhase, ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { bodyOf, failure, followExchange, untilAborted } from '../apiserver/index.ts';

export const connectionError = (message: string, cause?: ConnectionFault): ApiError =>
  new ApiError({ code: 'ConnectionError', message, ...(cause === undefined ? {} : { cause }) });

/**
 * A fault of one request:
 * - `error`: the request fails with this error before it is sent;
 * - `status`: the client gets this status with a `Status` body; the server never sees the request;
 * - `delayMs`: the server sees the request this much later, then perhaps with the fault `then`;
 * - `unconnectedMs`: no connection is established, and the client gives up after this time;
 * - `drop`: no response ever arrives;
 * - `reset`: the connection breaks before the server sees the request;
 * - `afterWrite`: the server executes the request, and the response is lost.
 */
export type RequestFault =
  | { readonly error: ApiError }
  | {
      readonly status: number;
      readonly reason?: string;
      readonly message?: string;
      /** `Retry-After`, in seconds. */
      readonly retryAfter?: number;
    }
  | { readonly delayMs: number; readonly then?: RequestFault }
  | { readonly unconnectedMs: number }
  | 'drop'
  | 'reset'
  | { readonly afterWrite: 'reset' | 'drop' };

export type FaultRule = (request: KubeRequest) => RequestFault | undefined;

const reset = ({ method, path }: KubeRequest): ApiError =>
  connectionError(`${method} ${path}: connection reset by peer`, {
    code: 'ECONNRESET',
    phase: 'waiting for the answer',
  });

const unconnected = ({ method, path }: KubeRequest): ApiError =>
  connectionError(`${method} ${path}: no connection in time`, { code: 'ETIMEDOUT', phase: 'connecting' });

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const statusAnswer = (fault: Extract<RequestFault, { status: number }>): KubeResponse => {
  const { status: code, message = 'simulated fault', retryAfter } = fault;
  const reason = fault.reason ?? reasons[code];
  const body = failure({
    code,
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  });
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: bodyOf(Buffer.from(JSON.stringify(body))),
  };
};

const abandon = async (response: KubeResponse): Promise<void> => {
  await response.body[Symbol.asyncIterator]().return?.();
};

/** Returns `kube` with faults. `rule` is called once per request. Deadlines and aborts also apply while a fault delays a request. */
export const withFaults = (kube: Kube, options: { readonly clock: Clock; readonly rule: FaultRule }): Kube => {
  const { clock, rule } = options;

  const wait = async (request: KubeRequest, ms: number, phase?: ExchangePhase): Promise<void> => {
    const exchange = followExchange(clock, request, phase);
    try {
      await untilAborted(exchange.signal, clock.sleep(ms, exchange.signal));
    } finally {
      exchange.finish();
    }
  };

  const suffer = async (request: KubeRequest, fault: RequestFault | undefined): Promise<KubeResponse> => {
    if (fault === undefined) return kube.request(request);
    if (fault === 'reset') throw reset(request);
    if (fault === 'drop') {
      await wait(request, Infinity);
      throw reset(request);
    }
    if ('unconnectedMs' in fault) {
      await wait(request, fault.unconnectedMs, 'connecting');
      throw unconnected(request);
    }
    if ('error' in fault) throw fault.error;
    if ('status' in fault) return statusAnswer(fault);
    if ('delayMs' in fault) {
      await wait(request, fault.delayMs);
      const { timeoutMs } = request;
      const rest = timeoutMs === undefined ? {} : { timeoutMs: timeoutMs - fault.delayMs };
      return suffer({ ...request, ...rest }, fault.then);
    }
    await abandon(await kube.request(request));
    if (fault.afterWrite === 'drop') await wait(request, Infinity);
    throw reset(request);
  };

  return {
    async request(request) {
      request.signal.throwIfAborted();
      return suffer(request, rule(request));
    },
  };
};
