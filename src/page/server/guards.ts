import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type HttpResponse, textResponse } from '../../process/index.ts';

/** The page may load scripts, styles and images from this server only, connect to it only, and be framed by no other page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of every response. */
export const securityHeaders: OutgoingHttpHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Returns false if a server on loopback receives a Host header other than loopback. No legitimate client sends one, nor does `kubectl port-forward`, but
 * a foreign page whose name resolves to this server (DNS rebinding).
 */
export const isExpectedHost = (boundTo: string, header: string | undefined): boolean =>
  !isLoopback(boundTo) || (header !== undefined && loopbackHost.test(header));

/** Returns true if a page of this server sent the request. Browsers send Origin with every POST. */
const isSameOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);

/** Size limit of a request in bytes, far more than the page sends. */
const mostBytes = 4_096;

/** Parses the body of a request; undefined if it is too long or not JSON. */
const jsonOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
};

/**
 * Handles a POST that only the page itself can send: it needs the page's Origin, which browsers set, and a JSON body, which no form of another page can
 * send. `act` receives the parsed body, undefined if it is not valid, and returns an error message, if any.
 */
export const postOfPage = async (
  request: IncomingMessage,
  act: (sent: unknown) => string | undefined,
): Promise<HttpResponse> => {
  const { origin, host, 'content-type': type } = request.headers;
  if (!isSameOrigin(origin, host)) return textResponse(403, 'only the page itself may do this');
  if (type !== 'application/json') return textResponse(415, 'only JSON is accepted');
  const problem = act(await jsonOf(request));
  return problem === undefined ? textResponse(200, 'done') : textResponse(400, problem);
};
