import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../ports/logger.ts';
import {
  type HttpExchange,
  type HttpHandler,
  type HttpResponse,
  sendResponse,
  textResponse,
} from '../../process/index.ts';
import type { OpenStream } from './event-streams.ts';
import { type PagePost, isExpectedHost, securityHeaders } from './guards.ts';
import type { SeedFeed } from './seed-feed.ts';

/** A static file of the page. */
export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
  /** True if the file's name changes with its content. */
  readonly isImmutable: boolean;
}

export interface HandlerOptions {
  readonly boundTo: string;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly feed: SeedFeed;
  readonly openStream: OpenStream;
  readonly logger: Logger;
  /** Handlers of POST requests by path. */
  readonly posts: ReadonlyMap<string, PagePost>;
}

const assetAnswer = ({ contentType, body, isImmutable }: Asset): HttpResponse => ({
  status: 200,
  contentType,
  body,
  headers: isImmutable ? { 'Cache-Control': 'public, max-age=31536000, immutable' } : {},
});

const send = (response: ServerResponse, { headers, ...rest }: HttpResponse): void =>
  sendResponse(response, { ...rest, headers: { ...securityHeaders, ...headers } });

const stream = (exchange: HttpExchange, shoot: string | null, { openStream, feed }: HandlerOptions): void => {
  const opened = openStream(exchange);
  if (opened === undefined) {
    send(exchange.response, textResponse(503, 'too many open event streams', { 'Retry-After': '5' }));
  } else if (shoot === null) feed.watchSeed(opened);
  else feed.watchShoot(opened, shoot);
};

/** Base for parsing the URL of a request. Only path and query of the result are used. */
const anyBase = 'http://page.invalid';

/** Returns the error response for a request that is not allowed; undefined if it is. */
const refusal = (
  { method, headers }: IncomingMessage,
  path: string,
  { boundTo, posts }: HandlerOptions,
): HttpResponse | undefined => {
  if (!isExpectedHost(boundTo, headers.host)) {
    return textResponse(421, 'this page is only served under the names of the loopback address');
  }
  if (method === 'GET' || method === 'HEAD' || (method === 'POST' && posts.has(path))) return undefined;
  return textResponse(405, 'only GET and HEAD are allowed', { Allow: 'GET, HEAD' });
};

/** Serves the page: its files, and `/events`, with `?shoot=NAMESPACE` for one shoot. */
export const pageHandler = (options: HandlerOptions): HttpHandler => {
  const { assets, posts, logger } = options;
  const answerTo = async ({ request, signal }: HttpExchange, path: string): Promise<HttpResponse> => {
    const asset = assets.get(path);
    if (asset !== undefined) return assetAnswer(asset);
    const post = request.method === 'POST' ? posts.get(path) : undefined;
    return post === undefined ? textResponse(404, 'not found') : post(request, signal);
  };
  return (exchange) => {
    const { request, response } = exchange;
    const url = URL.parse(request.url ?? '/', anyBase);
    if (url === null) {
      send(response, textResponse(400, 'invalid URL'));
      return;
    }
    const refused = refusal(request, url.pathname, options);
    if (refused !== undefined) send(response, refused);
    else if (url.pathname === '/events' && request.method === 'GET') {
      stream(exchange, url.searchParams.get('shoot'), options);
    } else {
      void answerTo(exchange, url.pathname)
        .catch((error: unknown) => {
          logger.error('page: a request failed', { path: url.pathname, error });
          return textResponse(500, 'internal error; see the log');
        })
        .then((answer) => send(response, answer));
    }
  };
};
