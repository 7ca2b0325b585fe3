import type { IncomingMessage } from 'node:http';
import { type HttpHandler, type HttpResponse, textResponse } from '../../process/index.ts';
import { type PagePost, isExpectedHost, securityHeaders } from './guards.ts';
import type { AnswerView } from './source.ts';

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
  readonly answerView: AnswerView;
  /** Handlers of POST requests by path. */
  readonly posts: ReadonlyMap<string, PagePost>;
}

const assetAnswer = ({ contentType, body, isImmutable }: Asset): HttpResponse => ({
  status: 200,
  contentType,
  body,
  headers: isImmutable ? { 'Cache-Control': 'public, max-age=31536000, immutable' } : {},
});

/** Base for parsing the URL of a request. Only path and query of the result are used. */
const anyBase = 'http://page.invalid';

/** Serves the page: its files, and `/view`, with `?shoot=SHOOT` for the details of one shoot. */
export const pageHandler = (options: HandlerOptions): HttpHandler => {
  const { boundTo, assets, posts, answerView } = options;
  const answerTo = async (request: IncomingMessage): Promise<HttpResponse> => {
    const url = URL.parse(request.url ?? '/', anyBase);
    if (url === null) return textResponse(400, 'invalid URL');
    const { pathname, searchParams } = url;
    if (!isExpectedHost(boundTo, request.headers.host)) {
      return textResponse(421, 'this page is only served under the names of the loopback address');
    }
    if (request.method === 'POST') {
      const post = posts.get(pathname);
      if (post !== undefined) return post(request);
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return textResponse(405, 'only GET and HEAD are allowed', { Allow: 'GET, HEAD' });
    }
    if (pathname === '/view') return answerView(searchParams.get('shoot') ?? undefined);
    const asset = assets.get(pathname);
    return asset === undefined ? textResponse(404, 'not found') : assetAnswer(asset);
  };
  return async (request) => {
    const answer = await answerTo(request);
    return { ...answer, headers: { ...securityHeaders, ...answer.headers } };
  };
};
