import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import type { KubeRequest, KubeResponse } from '../api/kube.ts';
import { abortable } from './abortable.ts';
import type { Connection } from './connection-pool.ts';
import type { Scope } from './scope.ts';
import { type Traffic, watchTraffic } from './traffic.ts';

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

/** The head of an answer, whose body is still to be read. */
export interface Incoming {
  readonly response: IncomingMessage;
  readonly traffic: Traffic;
}

const mostHeaderBytes = 16 * 1024;

/** Sends one request on a borrowed connection and resolves with the head of the answer. Ends the connection on abort and on failure. */
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

/** Bytes of a body that are worked on before others have their turn: at worst a few milliseconds. */
const turnBytes = 64 * 1024;

export interface BodyOptions {
  readonly connection: Connection;
  readonly scope: Scope;
  readonly clock: Clock;
  /** Turns Node's error into ours. */
  readonly classify: (error: unknown) => unknown;
}

/** The body as the port wants it: read to its end or abandoned, the connection follows; the scope ends with it. */
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
    /** Gives others their turn: without it a body that has come in goes through as one piece of work. */
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

/** Header names in lower case; what came several times is joined as RFC 9110, section 5.3 has it. */
export const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> => {
  const headers = Object.create(null) as Record<string, string>;
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    if (values !== undefined) headers[name] = values.join(', ');
  }
  return headers;
};
