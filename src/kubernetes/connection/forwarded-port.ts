import { type AddressInfo, createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ClusterAccess } from '../kubeconfig/index.ts';
import { authority } from '../transport/index.ts';
import { type PodPort, type TunnelOptions, channelProtocol, openTunnel } from './port-forward.ts';
import { PortStream } from './port-stream.ts';

/** A port of this machine's loopback address whose connections lead to a pod. */
export interface ForwardedPort {
  readonly url: URL;
  close(): void;
}

export interface ForwardOptions extends TunnelOptions {
  readonly access: ClusterAccess;
  readonly signal: AbortSignal;
  /** Local port. Default: any that is free. */
  readonly port?: number;
  /** Called with the reason why a connection to the pod could not be opened. */
  readonly onProblem?: (error: unknown) => void;
}

/** Codes of a connection that was open, and that one of its sides has ended. */
const ends: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR']);

/**
 * Forwards a port as `kubectl port-forward` does, but asks anew for each connection which pod it leads to. Resolves when it listens. Rejects with Node's
 * error if it cannot.
 */
export const forwardPort = async (find: () => Promise<PodPort>, options: ForwardOptions): Promise<ForwardedPort> => {
  const { access, signal, port = 0, onProblem = () => undefined } = options;
  const open = async (): Promise<PortStream> => {
    const to = await find();
    const { endpoint, credentials } = access;
    const security = await access.security(signal);
    const authorization = await credentials.authorization(signal);
    const reached = { endpoint, security, authorization, target: authority(endpoint), protocols: [channelProtocol] };
    return new PortStream(await openTunnel(reached, to, options), options.random);
  };
  const server = createServer((local) => {
    // A failure of either side ends both.
    local.on('error', () => undefined);
    open()
      .then((remote) => Promise.all([pipeline(local, remote, { signal }), pipeline(remote, local, { signal })]))
      .catch((error: unknown) => {
        local.destroy();
        if (!ends.has((error as { readonly code?: unknown }).code)) onProblem(error);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const close = (): void => void server.close();
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  return { url: new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`), close };
};
