import type { Kube, KubeRequest } from '../api/kube.ts';

/** Sends every request in one lane of the rate limit. */
export const withPriority = (kube: Kube, lane: NonNullable<KubeRequest['lane']>): Kube => ({
  request: (request) => kube.request({ ...request, lane }),
});
