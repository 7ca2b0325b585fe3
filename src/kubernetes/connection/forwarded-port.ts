import { type AddressInfo, createServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../api/errors.ts';
import type { ClusterAccess } from '../kubeconfig/index.ts';
import { authority, createScope } from '../transport/index.ts';
import { type PodPort, type TunnelOptions, channelProtocol, openTunnel } from './port-forward.ts';

export interface ForwardOptions extends TunnelOptions {
  readonly access: ClusterAccess;
  /** Closes the port and ends its connections. */
  readonly signal: AbortSignal;
  /** Local port. Default: any that is free. */
  readonly port?: number;
  /** Called for each connection to the pod that could not be opened, with the reason. */
  readonly onProblem?: (error: unknown) => void;
}

/** Time in which a connection to the pod must open, in milliseconds. */
const openTimeoutMs = 30_000;

/** Codes of a connection that one of its sides has ended. */
const ends: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR']);
const clientLeft = Object.assign(new Error('the client has left'), { code: 'ECONNRESET' });
const late = (): ApiError =>
  new ApiError({ code: 'Timeout', message: `no connection to the pod within ${String(openTimeoutMs / 1000)} s` });

/** Channels of the one port (`handleWebSocketStreams` of k8s.io/kubelet). The first message of each is the number of the port. */
const channels = { data: 0, error: 1 } as const;
const mostErrorBytes = 1_000;

/** Makes messages of bytes for the pod. */
async function* toMessages(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) yield Buffer.concat([Buffer.from([channels.data]), chunk]);
}

/** Takes the pod's bytes out of messages. Throws the error that the kubelet sends. */
async function* fromMessages(messages: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const begun = new Set<number>();
  for await (const message of messages) {
    const [channel = channels.data] = message;
    const content = message.subarray(1);
    if (!begun.has(channel)) begun.add(channel);
    else if (channel === channels.data) yield content;
    else if (channel === channels.error) throw new Error(content.toString().slice(0, mostErrorBytes));
  }
}

/**
 * Forwards a port of this machine's loopback address as `kubectl port-forward` does, but asks anew for each connection which pod it leads to. Resolves with
 * its address when it listens. Rejects with Node's error if it cannot. A client that ends its side ends the connection, also before the answer: the protocol cannot end one direction alone.
 */
export const forwardPort = async (
  find: (signal: AbortSignal) => Promise<PodPort>,
  options: ForwardOptions,
): Promise<URL> => {
  const { access, signal, clock, port = 0, onProblem = () => undefined } = options;
  const open = async (within: AbortSignal): Promise<Duplex> => {
    const to = await find(within);
    const { endpoint, credentials } = access;
    const security = await access.security(within);
    const authorization = await credentials.authorization(within);
    const reached = { endpoint, security, authorization, target: authority(endpoint), protocols: [channelProtocol] };
    const websocket = await openTunnel(reached, to, { ...options, signal: within });
    const { createWebSocketStream } = await import('ws');
    return createWebSocketStream(websocket, { readableObjectMode: true });
  };
  const server = createServer((local) => {
    // A failure of either side ends both.
    local.on('error', () => undefined);
    const scope = createScope({ signal, clock, timeoutMs: openTimeoutMs, onTimeout: late });
    local.once('close', () => scope.fail(clientLeft));
    // Node tells that a client has left only to those who read what it has sent.
    const sent = local.pipe(new PassThrough());
    open(scope.signal)
      .finally(() => scope.end())
      .then((messages) =>
        // As a stream, unlike a function, it notices that the client has already left.
        pipeline(sent, toMessages, messages, Duplex.from(fromMessages), local, { signal }).finally(() =>
          messages.destroy(),
        ),
      )
      .catch((error: unknown) => {
        local.destroy();
        if (!signal.aborted && !ends.has((error as { readonly code?: unknown }).code)) onProblem(error);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const close = (): void => void server.close();
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  return new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
};
