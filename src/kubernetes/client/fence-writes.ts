import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import type { Leadership } from '../api/leadership.ts';

/**
 * Refuses a write unless this process may write at the moment the request is sent, even after waiting for a rate limit, a retry or a
 * connection, or after a suspension. A refused write rejects with `Rejected` and was not sent. Reads pass.
 */
export const fenceWrites = (kube: Kube, leadership: Leadership): Kube => ({
  request: async (request: KubeRequest) => {
    if (request.method === 'GET') return kube.request(request);
    const { method, path, beforeSend } = request;
    const check = (): void => {
      if (leadership.mayWrite()) return;
      throw new ApiError({
        code: 'Rejected',
        message: `${method} ${path}: not sent: this process may not write it now`,
      });
    };
    check();
    return kube.request({
      ...request,
      beforeSend: () => {
        check();
        beforeSend?.();
      },
    });
  },
});
