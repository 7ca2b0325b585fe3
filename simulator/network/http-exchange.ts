import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { isWatch } from '../apiserver/index.ts';

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies KubeRequest['method'][];

const isMethod = (method: string): method is KubeRequest['method'] => methods.includes(method);

const readBody = async (message: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
};

const headersOf = (message: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/** Reads a request as the server sees it; resolves when the whole body has arrived. */
export const kubeRequest = async (message: IncomingMessage, signal: AbortSignal): Promise<KubeRequest> => {
  const { url = '/', method = 'GET' } = message;
  const mark = url.indexOf('?');
  const body = await readBody(message);
  return {
    method: isMethod(method) ? method : 'POST',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? {} : Object.fromEntries(new URLSearchParams(url.slice(mark + 1))),
    headers: headersOf(message),
    ...(body.length === 0 ? {} : { body }),
    signal,
  };
};

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    // A watch may wait thousands of times, so the listener that was not called must be removed too.
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });

export interface Sink {
  readonly request: KubeRequest;
  readonly response: ServerResponse;
  /** Resolves when sending is allowed. */
  readonly gate: () => Promise<void>;
}

/** Sends the response chunk by chunk, because a watch does not end by itself. */
const stream = async (answer: KubeResponse, { response, gate }: Sink): Promise<void> => {
  response.writeHead(answer.status, { ...answer.headers });
  response.flushHeaders();
  for await (const chunk of answer.body) {
    await gate();
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
  }
  await gate();
  response.end();
};

const sendWhole = async (answer: KubeResponse, { response, gate }: Sink): Promise<void> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  await gate();
  const body = Buffer.concat(chunks);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
  response.end(body);
};

/** Sends `answer` to the sink's client, and waits while its gate is closed. */
export const send = (answer: KubeResponse, sink: Sink): Promise<void> =>
  isWatch(sink.request.query ?? {}) ? stream(answer, sink) : sendWhole(answer, sink);
