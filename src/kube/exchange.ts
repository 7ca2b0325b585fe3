import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { KubeRequest, KubeResponse } from '../ports/index.ts';
import type { Connection } from './connection-pool.ts';
import type { Scope } from './scope.ts';

export interface Outgoing {
  readonly method: KubeRequest['method'];
  /** Path and query as they go on the wire. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: KubeRequest['body'];
  readonly beforeSend: KubeRequest['beforeSend'];
}

const noAnswer = (): Error =>
  Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' });

/** Sends one request on a leased connection and resolves with the head of the answer. Ends the connection on abort and on failure. */
export const sendOn = (connection: Connection, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      connection.destroy();
      reject(error);
    };
    const abort = (): void => fail(signal.reason);
    const hangUp = (): void => fail(noAnswer());
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort);
    try {
      outgoing.beforeSend?.();
      const request = httpRequest({
        agent: connection.agent,
        method: outgoing.method,
        path: outgoing.target,
        headers: outgoing.headers,
      });
      request.on('error', fail);
      request.on('close', hangUp);
      request.on('response', (response) => {
        request.off('close', hangUp);
        signal.removeEventListener('abort', abort);
        resolve(response);
      });
      request.end(outgoing.body);
    } catch (error) {
      fail(error);
    }
  });

export interface BodyOptions {
  readonly connection: Connection;
  readonly scope: Scope;
  /** Turns Node's error into ours. */
  readonly classify: (error: unknown) => unknown;
}

/** The body as the port wants it: read to its end or abandoned, the connection follows; the scope ends with it. */
export const bodyOf = (response: IncomingMessage, options: BodyOptions): KubeResponse['body'] => {
  const { connection, scope, classify } = options;
  const abandon = (): void => {
    scope.end();
    connection.destroy();
  };
  scope.signal.addEventListener('abort', () => connection.destroy(), { once: true });
  if (scope.signal.aborted) connection.destroy();
  response.on('error', () => undefined);
  response.once('end', () => scope.end());
  const iterate = (): AsyncIterator<Uint8Array, undefined> => {
    const chunks: AsyncIterator<Uint8Array, undefined> = response.iterator();
    return {
      next: async () => {
        try {
          const chunk = await chunks.next();
          if (scope.signal.aborted) throw scope.signal.reason;
          return chunk;
        } catch (error) {
          abandon();
          throw scope.signal.aborted ? scope.signal.reason : classify(error);
        }
      },
      return: async () => {
        if (!response.readableEnded) abandon();
        return { done: true, value: undefined };
      },
    };
  };
  return { [Symbol.asyncIterator]: iterate };
};

/** Header names in lower case; what came several times is joined as RFC 9110, section 5.3 has it. */
export const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    if (values !== undefined) headers[name] = values.join(', ');
  }
  return headers;
};
