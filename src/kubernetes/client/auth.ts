import type { Kube, KubeRequest, KubeResponse } from '../api/kube.ts';

/** Credentials of our requests. */
export interface Credentials {
  /** Resolves with the `Authorization` header of the next request, or undefined for none. Rejects with an ApiError. */
  authorization(signal: AbortSignal): Promise<string | undefined>;
  /** Drops cached credentials, because the server refused them. Returns false if they cannot have changed. */
  reload(): boolean;
}

export const bearer = (token: string): string => `Bearer ${token}`;

/** Returns the header of basic authentication (RFC 7617). */
export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;

/** Returns credentials that never change; `authorization` is undefined if the TLS client certificate is the only credential. */
export const staticCredentials = (authorization: string | undefined): Credentials => ({
  authorization: async () => authorization,
  reload: () => false,
});

const abandon = async (response: KubeResponse): Promise<void> => {
  await response.body[Symbol.asyncIterator]().return?.();
};

/** Adds the credentials to every request. After a 401 it reloads them and sends the request once more. */
export const withCredentials = (kube: Kube, credentials: Credentials): Kube => {
  const send = async (request: KubeRequest): Promise<KubeResponse> => {
    const authorization = await credentials.authorization(request.signal);
    if (authorization === undefined) return kube.request(request);
    return kube.request({ ...request, headers: { ...request.headers, authorization } });
  };
  return {
    request: async (request) => {
      const response = await send(request);
      if (response.status !== 401 || !credentials.reload()) return response;
      await abandon(response);
      return send(request);
    },
  };
};
