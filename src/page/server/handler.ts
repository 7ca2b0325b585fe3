import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Logger } from '../../ports/logger.ts';
import type { HttpHandler } from '../../process/index.ts';
import type { Asset } from './assets.ts';
import type { EventStreams } from './event-streams.ts';
import { securityHeaders } from './headers.ts';
import { isExpectedHost } from './host.ts';
import type { PageSource, SeedFeed } from './seed-feed.ts';

/** Handles a POST request. Only the demo accepts any. */
export type PagePost = (request: IncomingMessage, signal: AbortSignal) => Promise<PageResponse>;

export interface HandlerOptions {
  readonly boundTo: string;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly source: PageSource;
  readonly feed: SeedFeed;
  readonly streams: EventStreams;
  readonly logger: Logger;
  /** Handlers of POST requests by path. */
  readonly posts: ReadonlyMap<string, PagePost>;
}

export interface PageResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer | string;
  readonly headers?: OutgoingHttpHeaders;
}

export const textResponse = (status: number, text: string, headers: OutgoingHttpHeaders = {}): PageResponse => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers,
});

const jsonAnswer = (value: unknown): PageResponse => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value)}\n`,
});

const assetAnswer = ({ contentType, body, isImmutable }: Asset): PageResponse => ({
  status: 200,
  contentType,
  body,
  headers: isImmutable ? { 'Cache-Control': 'public, max-age=31536000, immutable' } : {},
});

const send = (response: ServerResponse, { status, contentType, body, headers }: PageResponse): void => {
  if (response.destroyed) return;
  response.writeHead(status, {
    ...securityHeaders,
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
};

const statusAnswer = async (
  shoot: string | null,
  { source }: HandlerOptions,
  signal: AbortSignal,
): Promise<PageResponse> => {
  const view = await source.seed(signal);
  if (shoot === null) return jsonAnswer(view);
  const found = await source.shoot(shoot, signal);
  if (found === undefined) return textResponse(404, 'no such shoot');
  return jsonAnswer({ ...view, status: { ...view.status, shoots: [found] } });
};

const stream = (response: ServerResponse, shoot: string | null, options: HandlerOptions, signal: AbortSignal): void => {
  const opened = options.streams.open(response, signal);
  if (opened === undefined) {
    send(response, textResponse(503, 'too many open event streams', { 'Retry-After': '5' }));
  } else if (shoot === null) options.feed.watchSeed(opened);
  else options.feed.watchShoot(opened, shoot);
};

/** Base for parsing the URL of a request. Only path and query of the result are used. */
const anyBase = 'http://page.invalid';

const urlOf = (request: IncomingMessage): URL | undefined => {
  try {
    return new URL(request.url ?? '/', anyBase);
  } catch {
    return undefined;
  }
};

/** Returns the error response for a request that is not allowed; undefined if it is. */
const refusal = (
  { method, headers }: IncomingMessage,
  path: string,
  { boundTo, posts }: HandlerOptions,
): PageResponse | undefined => {
  if (!isExpectedHost(boundTo, headers.host)) {
    return textResponse(421, 'this page is only served under the names of the loopback address');
  }
  if (method === 'GET' || method === 'HEAD' || (method === 'POST' && posts.has(path))) return undefined;
  return textResponse(405, 'only GET and HEAD are allowed', { Allow: 'GET, HEAD' });
};

const answerTo = async (
  request: IncomingMessage,
  { pathname, searchParams }: URL,
  options: HandlerOptions,
  signal: AbortSignal,
): Promise<PageResponse> => {
  const { assets, posts } = options;
  const asset = assets.get(pathname);
  if (asset !== undefined) return assetAnswer(asset);
  if (pathname === '/status') return statusAnswer(searchParams.get('shoot'), options, signal);
  const post = request.method === 'POST' ? posts.get(pathname) : undefined;
  return post === undefined ? textResponse(404, 'not found') : post(request, signal);
};

/** Serves the page: its files, `/status` and `/events`, the latter two also for one shoot (`?shoot=NAMESPACE`). */
export const pageHandler =
  (options: HandlerOptions): HttpHandler =>
  (request, response, signal) => {
    const url = urlOf(request);
    if (url === undefined) {
      send(response, textResponse(400, 'invalid URL'));
      return;
    }
    const refused = refusal(request, url.pathname, options);
    if (refused !== undefined) send(response, refused);
    else if (url.pathname === '/events' && request.method === 'GET') {
      stream(response, url.searchParams.get('shoot'), options, signal);
    } else {
      void answerTo(request, url, options, signal)
        .catch((error: unknown) => {
          options.logger.error('page: a request failed', { path: url.pathname, error });
          return textResponse(500, 'internal error; see the log');
        })
        .then((answer) => send(response, answer));
    }
  };
