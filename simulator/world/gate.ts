import { ApiError, type ConnectionFault, type ExchangePhase } from '../../src/kubernetes/api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type Reachability, withFaults } from '../network/index.ts';

export interface Gate extends Kube {
  /** As `HttpsFace.setReachability` does it for sockets. */
  setReachability(reachability: Reachability): void;
  readonly reachability: Reachability;
}

export interface GateOptions {
  readonly clock: Clock;
  /** The bearer token that is let in; everybody else gets a 401. */
  readonly token: () => string;
  /** How long clients wait for a connection where the path is silent. Default: for ever. */
  readonly connectTimeoutMs?: number | undefined;
}

const headerOf = (request: KubeRequest): string | undefined =>
  Object.entries(request.headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];

const broken = (message: string, fault: ConnectionFault): ApiError =>
  new ApiError({ code: 'ConnectionError', message, cause: fault });
const reset = (phase: ExchangePhase): ApiError => broken('connection reset by peer', { code: 'ECONNRESET', phase });
const refusal = (): ApiError => broken('connection refused', { code: 'ECONNREFUSED', phase: 'connecting' });

/** An exchange under way; ends with its caller's signal or with the connection. */
interface OpenExchange {
  readonly signal: AbortSignal;
  reset(): void;
  finish(): void;
}

const followCaller = (
  caller: AbortSignal,
  phase: ExchangePhase,
  onFinish: (exchange: OpenExchange) => void,
): OpenExchange => {
  const controller = new AbortController();
  const abort = (): void => controller.abort(caller.reason);
  const exchange: OpenExchange = {
    signal: controller.signal,
    reset: () => controller.abort(reset(phase)),
    finish: () => {
      caller.removeEventListener('abort', abort);
      onFinish(exchange);
    },
  };
  caller.addEventListener('abort', abort, { once: true });
  return exchange;
};

const untilBroken = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });

/** The way to an API server, which can break: `kube` behind a token and a path that is open, refused or silent. */
export const createGate = (
  kube: Kube,
  { clock, token, connectTimeoutMs = Number.POSITIVE_INFINITY }: GateOptions,
): Gate => {
  const guarded = withFaults(kube, {
    clock,
    rule: (request) =>
      headerOf(request) === `Bearer ${token()}`
        ? undefined
        : { status: 401, reason: 'Unauthorized', message: 'Unauthorized' },
  });
  const silent = withFaults(kube, { clock, rule: () => ({ unconnectedMs: connectTimeoutMs }) });
  const open = new Set<OpenExchange>();
  let reachability: Reachability = 'open';

  const withhold = (body: KubeResponse['body'], exchange: OpenExchange): KubeResponse['body'] => {
    const chunks = body[Symbol.asyncIterator]();
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        const chunk = await chunks.next();
        if (reachability === 'silent') return await untilBroken(exchange.signal);
        if (chunk.done === true) exchange.finish();
        return chunk;
      } catch (error) {
        exchange.finish();
        throw error;
      }
    };
    const abandon = async (): Promise<IteratorResult<Uint8Array>> => {
      exchange.finish();
      return (await chunks.return?.()) ?? { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: abandon }) };
  };

  return {
    get reachability() {
      return reachability;
    },
    setReachability(next) {
      const isReset = reachability === 'silent' || next === 'refused';
      if (next === reachability) return;
      reachability = next;
      if (isReset) for (const exchange of [...open]) exchange.reset();
    },
    async request(request) {
      request.signal.throwIfAborted();
      if (reachability === 'refused') throw refusal();
      const isSilent = reachability === 'silent';
      const phase = isSilent ? 'connecting' : 'waiting for the answer';
      const exchange = followCaller(request.signal, phase, (ended) => open.delete(ended));
      open.add(exchange);
      try {
        const way = isSilent ? silent : guarded;
        const response = await way.request({ ...request, signal: exchange.signal });
        return { ...response, body: withhold(response.body, exchange) };
      } catch (error) {
        exchange.finish();
        throw error;
      }
    },
  };
};
