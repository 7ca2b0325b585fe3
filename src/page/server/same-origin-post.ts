import type { IncomingMessage } from 'node:http';
import { type HttpResponse, textResponse } from '../../process/index.ts';
import type { PagePost } from './handler.ts';
import { isSameOrigin } from './host.ts';

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
 * send. `act` receives the parsed body, undefined if it is not valid, and resolves with an error message, if any.
 */
export const sameOriginPost =
  (act: (sent: unknown, signal: AbortSignal) => Promise<string | undefined>): PagePost =>
  async (request, signal): Promise<HttpResponse> => {
    const { origin, host, 'content-type': type } = request.headers;
    if (!isSameOrigin(origin, host)) return textResponse(403, 'only the page itself may do this');
    if (type !== 'application/json') return textResponse(415, 'only JSON is accepted');
    const problem = await act(await jsonOf(request), signal);
    return problem === undefined ? textResponse(200, 'done') : textResponse(400, problem);
  };
