import type { Clock } from '../../ports/clock.ts';
import type { CallResult, Call } from '../api/call.ts';
import type { CallOptions, Kube, KubeClient } from '../api/kube.ts';
import type { BodyBudget } from './body-budget.ts';
import { performCall } from './call.ts';

/** etcd accepts objects of 1.5 MiB (https://etcd.io/docs/latest/dev-guide/limit), which a Secret, larger in base64, may fill. */
const defaultObjectBytes = 2 * 1024 * 1024;

export interface KubeClientOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  /** Maximum size in bytes of an object, unless the call sets its own, and of an item of a list; a larger one is a MalformedResponse. Default 2 MiB. */
  readonly objectBytes?: number;
  /** Memory for incoming bodies. Default: no limit. */
  readonly budget?: BodyBudget;
  /** Longest accepted `Retry-After` in milliseconds; longer ones are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number;
}

/** Creates the client that the controllers use: it performs calls in JSON or protobuf, and every failure is an ApiError. */
export const createKubeClient = (options: KubeClientOptions): KubeClient => {
  const { kube, clock, objectBytes = defaultObjectBytes, budget, longestRetryAfterMs } = options;
  const context = { kube, clock, objectBytes, budget, accept: 'application/json', longestRetryAfterMs };
  return {
    call: <T>(call: Call<T>, callOptions: CallOptions): Promise<CallResult<T>> =>
      performCall(call, callOptions, context),
  };
};
