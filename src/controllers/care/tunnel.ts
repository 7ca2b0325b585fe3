import { ApiError, formatGoDuration, KubeconfigError, type TunnelPod } from '../../domain/index.ts';
import type { Clock, TunnelConnector } from '../../ports/index.ts';
import type { TunnelView } from './observation.ts';

export interface TunnelDeps {
  readonly clock: Clock;
  readonly tunnels: TunnelConnector;
}

export interface TunnelTry {
  readonly kubeconfig: string;
  /** The shoot's ends of the tunnel. */
  readonly pods: readonly TunnelPod[];
  readonly signal: AbortSignal;
}

const app = 'vpn-shoot';
const port = 22;
const timeoutMs = 5_000;

/** Tries the tunnel to the shoot's network by a connection through it. Rejects only with `signal.reason`. */
export const lookAtTunnel = async (
  { clock, tunnels }: TunnelDeps,
  { kubeconfig, pods, signal }: TunnelTry,
): Promise<TunnelView> => {
  if (pods.length === 0) return { kind: 'not-deployed' };
  const pod = pods.find((candidate) => candidate.running && candidate.app === app)?.name;
  if (pod === undefined) return { kind: 'broken', error: `no running ${app} pod found yet in the shoot cluster` };
  const end = new AbortController();
  const follow = (): void => end.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', follow, { once: true });
  const late = `no connection to port ${port} of pod kube-system/${pod} within ${formatGoDuration(timeoutMs)}`;
  const cancel = clock.timer(timeoutMs, () => end.abort(new Error(late)));
  try {
    await tunnels.connect(kubeconfig, { namespace: 'kube-system', pod, port }, end.signal);
    return { kind: 'connected' };
  } catch (error) {
    signal.throwIfAborted();
    if (end.signal.aborted) return { kind: 'broken', error: late };
    if (error instanceof ApiError || error instanceof KubeconfigError) return { kind: 'broken', error: error.message };
    throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', follow);
  }
};
