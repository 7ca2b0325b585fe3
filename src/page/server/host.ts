const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * False if a server on loopback gets a Host header that is not loopback, which nobody sends, `kubectl port-forward` neither, but a page from elsewhere whose
 * name was made to point here (DNS rebinding).
 */
export const isExpectedHost = (boundTo: string, header: string | undefined): boolean =>
  !isLoopback(boundTo) || (header !== undefined && loopbackHost.test(header));

/** True for a request that a page of this very server sent. Browsers send Origin with every POST. */
export const isSameOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
