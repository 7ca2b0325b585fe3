import type { Kube, KubeRequest } from '../api/kube.ts';

/** Sends every request with the same priority. */
export const withPriority = (kube: Kube, priority: NonNullable<KubeRequest['priority']>): Kube => ({
  request: (request) => kube.request({ ...request, priority }),
});
