import type { Clock } from '../../ports/clock.ts';
import type { Answer, Call } from '../api/call.ts';
import type { CallOptions, Kube, KubeClient } from '../api/kube.ts';
import type { BodyBudget } from './body-budget.ts';
import { performCall } from './call.ts';

/** etcd takes objects of 1.5 MiB (https://etcd.io/docs/latest/dev-guide/limit), which a Secret in base64 fills. */
const defaultObjectBytes = 2 * 1024 * 1024;

export interface KubeClientOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  /** Largest object, alone or in a list, that is read where the call sets no limit; a larger one is a MalformedResponse. Default 2 MiB. */
  readonly objectBytes?: number;
  /** Memory for the bodies that come in. Default: no limit. */
  readonly budget?: BodyBudget;
  /** Longer waits that the server asks for are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number;
}

/** Calls as the controllers make them: one exchange each, JSON, every failure an ApiError. */
export const createKubeClient = (options: KubeClientOptions): KubeClient => {
  const { kube, clock, objectBytes = defaultObjectBytes, budget, longestRetryAfterMs } = options;
  const context = { kube, clock, objectBytes, budget, accept: 'application/json', longestRetryAfterMs };
  return {
    call: <T>(call: Call<T>, callOptions: CallOptions): Promise<Answer<T>> => performCall(call, callOptions, context),
  };
};
