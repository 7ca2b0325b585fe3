import type { OutgoingHttpHeaders } from 'node:http';

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
export const isSameOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
