import type { Answer, Call } from '../domain/index.ts';
import type { CallOptions, Clock, Kube, KubeClient } from '../ports/index.ts';
import { performCall } from './call.ts';

const defaultBodyLimitBytes = 256 * 1024 * 1024;

export interface KubeClientOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  /** Largest answer that is read; a larger one is a MalformedResponse. Default 256 MiB. */
  readonly bodyLimitBytes?: number;
  /** Longer waits that the server asks for are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number;
}

/** Calls as the controllers make them: one exchange each, JSON, every failure an ApiError. */
export const createKubeClient = (options: KubeClientOptions): KubeClient => {
  const { kube, clock, bodyLimitBytes = defaultBodyLimitBytes, longestRetryAfterMs } = options;
  return {
    call: <T>(call: Call<T>, callOptions: CallOptions): Promise<Answer<T>> =>
      performCall(call, callOptions, {
        kube,
        clock,
        bodyLimitBytes,
        accept: 'application/json',
        longestRetryAfterMs,
      }),
  };
};
