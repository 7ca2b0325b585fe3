import type { IncomingMessage } from 'node:http';
import { type PageAnswer, type PagePost, textAnswer } from './handler.ts';
import { isSameOrigin } from './host.ts';

/** Far more than a request of the page has. */
const mostBytes = 4_096;

/** Undefined if it is too long, or no JSON. */
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
 * A POST that only the page itself can send: with its Origin, which browsers add by themselves, and as JSON, which no form of another page sends. `act` gets
 * what was sent and resolves with what is wrong with it, if anything.
 */
export const sameOriginPost =
  (act: (sent: unknown, signal: AbortSignal) => Promise<string | undefined>): PagePost =>
  async (request, signal): Promise<PageAnswer> => {
    const { origin, host, 'content-type': type } = request.headers;
    if (!isSameOrigin(origin, host)) return textAnswer(403, 'only the page itself may do this');
    if (type !== 'application/json') return textAnswer(415, 'only JSON is read');
    const problem = await act(await jsonOf(request), signal);
    return problem === undefined ? textAnswer(200, 'done') : textAnswer(400, problem);
  };
