import { ApiError, type ConnectionFault, type ExchangePhase } from '../../src/kubernetes/api/errors.ts';
import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** The end that a request sets itself: its signal or its deadline. */
export interface ServedExchange {
  /** Aborts with the request's own reason, or with an ApiError (`Timeout`) at its deadline. */
  readonly signal: AbortSignal;
  /** Lets go of timer and listener. Must be called when the exchange is over. */
  finish(): void;
}

const timedOut = (request: KubeRequest, phase: ExchangePhase): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${request.method} ${request.path}: no complete answer within ${String(request.timeoutMs)} ms`,
    cause: { code: 'ETIMEDOUT', phase } satisfies ConnectionFault,
  });

/** Follows `request`'s signal and deadline on `clock`, the way a transport does that has come as far as `phase`. */
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
      // Nobody waits for it any more, and its failure is nobody's.
      work.catch(() => undefined);
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
