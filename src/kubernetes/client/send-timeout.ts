import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { CallOptions } from '../api/kube.ts';
import { startTimeout } from '../transport/index.ts';

export interface SendTimeout extends Pick<CallOptions, 'signal' | 'beforeSend'> {
  /** Frees timer and listener; call it when the exchange is over. */
  release(): void;
}

/**
 * Creates a signal that follows the caller's until the request is sent. After that, only the timeout of the response aborts it, because the
 * sender of a write must know if it took effect.
 */
export const withSendTimeout = (
  options: Pick<CallOptions, 'signal' | 'beforeSend'> & { readonly sentTimeoutMs: number },
  clock: Clock,
): SendTimeout => {
  const { signal, sentTimeoutMs } = options;
  const end = new AbortController();
  const follow = (): void => end.abort(signal.reason);
  let cancelTimer: (() => void) | undefined;
  const stopFollowing = (): void => signal.removeEventListener('abort', follow);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  const late = (): void =>
    end.abort(
      new ApiError({ code: 'Timeout', message: `no response within ${String(sentTimeoutMs)} ms of being sent` }),
    );
  return {
    signal: end.signal,
    beforeSend: () => {
      options.beforeSend?.();
      stopFollowing();
      cancelTimer ??= startTimeout(clock, sentTimeoutMs, late);
    },
    release: () => {
      stopFollowing();
      cancelTimer?.();
    },
  };
};
