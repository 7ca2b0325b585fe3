import { ApiError, type ConnectionFault, type ExchangePhase } from '../../src/kubernetes/api/errors.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** Lifetime of a request, which its signal or its deadline ends. */
export interface ServedExchange {
  /** Aborts with the request's own reason, or with an ApiError (`Timeout`) at its deadline. */
  readonly signal: AbortSignal;
  /** Removes the timer and the listener. Must be called when the exchange is over. */
  finish(): void;
}

const timedOut = (request: KubeRequest, phase: ExchangePhase): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${request.method} ${request.path}: no complete answer within ${String(request.timeoutMs)} ms`,
    cause: { code: 'ETIMEDOUT', phase } satisfies ConnectionFault,
  });

/** Follows `request`'s signal and deadline on `clock`. A timeout reports `phase` as the phase that the exchange had reached. */
export const followExchange = (
  clock: Clock,
  request: KubeRequest,
  phase: ExchangePhase = 'waiting for the answer',
): ServedExchange => {
  const controller = new AbortController();
  const abort = (): void => controller.abort(request.signal.reason);
  const { timeoutMs } = request;
  const cancel =
    timeoutMs === undefined ? undefined : clock.timer(timeoutMs, () => controller.abort(timedOut(request, phase)));
  if (request.signal.aborted) abort();
  else request.signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    finish() {
      cancel?.();
      request.signal.removeEventListener('abort', abort);
    },
  };
};

/** Settles like `work`, or rejects as soon as `signal` aborts, with its reason. */
export const untilAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      abort();
      // Nobody awaits `work` any more, so its failure must not become an unhandled rejection.
      work.catch(() => undefined);
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
