import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import type { KubeRequest, KubeResponse } from '../api/kube.ts';
import { abortable } from './abortable.ts';
import type { Connection } from './connection-pool.ts';
import type { Scope } from './scope.ts';
import { type Traffic, watchTraffic } from './traffic.ts';

export interface Outgoing {
  readonly method: KubeRequest['method'];
  /** Path and query as they are sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: KubeRequest['body'];
  readonly beforeSend: KubeRequest['beforeSend'];
}

const noAnswer = (): Error =>
  Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' });

/** The head of a response whose body has not been read yet. */
export interface Incoming {
  readonly response: IncomingMessage;
  readonly traffic: Traffic;
}

const mostHeaderBytes = 16 * 1024;

/** Sends one request on a borrowed connection and resolves with the head of the response. Ends the connection on abort and on failure. */
export const sendOn = async (connection: Connection, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> => {
  try {
    signal.throwIfAborted();
    outgoing.beforeSend?.();
    return await answerTo(connection, outgoing, signal);
  } catch (error) {
    connection.destroy();
    throw error;
  }
};

const answerTo = (connection: Connection, outgoing: Outgoing, signal: AbortSignal): Promise<Incoming> =>
  abortable(signal, (resolve, reject) => {
    const request = httpRequest({
      agent: connection.agent,
      method: outgoing.method,
      path: outgoing.target,
      headers: outgoing.headers,
      maxHeaderSize: mostHeaderBytes,
    });
    const traffic = watchTraffic(request, () => connection.destroy());
    request.on('error', (error) => reject(traffic.problem() ?? error));
    request.on('close', () => reject(traffic.problem() ?? noAnswer()));
    request.on('response', (response) => resolve({ response, traffic }));
    request.end(outgoing.body);
    return (isAnswered) => {
      if (!isAnswered) connection.destroy();
    };
  });

/** Bytes of a body that are processed before the event loop gets its turn: a few milliseconds at worst. */
const turnBytes = 64 * 1024;

export interface BodyOptions {
  readonly connection: Connection;
  readonly scope: Scope;
  readonly clock: Clock;
  /** Converts Node's error to ours. */
  readonly classify: (error: unknown) => unknown;
}

/** Returns the body for a KubeResponse. When it is read to its end or abandoned, the connection is reused or closed, and the scope ends. */
export const bodyOf = ({ response, traffic }: Incoming, options: BodyOptions): KubeResponse['body'] => {
  const { connection, scope, clock, classify } = options;
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
    let sinceTurn = 0;
    /** Yields to the event loop; otherwise a body that has already arrived is processed without a break. */
    const pace = async (): Promise<void> => {
      if (sinceTurn < turnBytes) return;
      sinceTurn = 0;
      await new Promise<void>((resolve) => void clock.timer(0, resolve));
    };
    return {
      next: async () => {
        try {
          await pace();
          const chunk = await chunks.next();
          if (scope.signal.aborted) throw scope.signal.reason;
          sinceTurn += chunk.value?.length ?? 0;
          traffic.deliver(chunk.value?.length ?? 0);
          return chunk;
        } catch (error) {
          abandon();
          throw scope.signal.aborted ? scope.signal.reason : classify(traffic.problem() ?? error);
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

/** Returns the headers with names in lower case; repeated headers are joined as in RFC 9110, section 5.3. */
export const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> => {
  const headers = Object.create(null) as Record<string, string>;
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    if (values !== undefined) headers[name] = values.join(', ');
  }
  return headers;
};
