import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { TunnelPod } from '../kubernetes/api/pod.ts';
import type { TunnelConnector } from '../kubernetes/api/tunnel-connection.ts';
import { createScope } from '../kubernetes/transport/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Read, TunnelObservation } from './checks/observation.ts';

export interface TunnelDeps {
  readonly clock: Clock;
  readonly tunnels: TunnelConnector;
}

export interface TunnelRequest {
  readonly kubeconfig: string;
  /** Pods at the shoot's end of the tunnel. */
  readonly pods: readonly TunnelPod[];
  /** End of the time for reads, in monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

const app = 'vpn-shoot';
const port = 22;
const timeoutMs = 5_000;

/** Added to the error, because an API server that refuses the upgrade does not name the missing right. */
const neededRights = 'a tunnel needs the rights to get and create pods/portforward in kube-system';

/** True if we lack the right to try the tunnel, and thus cannot know if it is broken. */
const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'Forbidden' || error.code === 'Unauthorized');

const broken = (error: string): Read<TunnelObservation> => ({ ok: true, value: { kind: 'broken', error } });

/**
 * Tests the tunnel to the shoot's network with a connection through it. If the deadline ends the test, the result is a failed read. Rejects only with
 * `signal.reason`, or for a bug.
 */
export const observeTunnel = async (
  { clock, tunnels }: TunnelDeps,
  { kubeconfig, pods, deadline, signal }: TunnelRequest,
): Promise<Read<TunnelObservation>> => {
  if (pods.length === 0) return { ok: true, value: { kind: 'not-deployed' } };
  const pod = pods.find((candidate) => candidate.running && candidate.app === app)?.name;
  if (pod === undefined) return broken(`no running ${app} pod found yet in the shoot cluster`);
  const leftMs = deadline - clock.monotonic();
  const noConnection = `no connection to port ${port} of pod kube-system/${pod}`;
  signal.throwIfAborted();
  const scope = createScope({
    signal,
    clock,
    timeoutMs: Math.max(0, Math.min(timeoutMs, leftMs)),
    onTimeout: () => new Error(noConnection),
  });
  try {
    await tunnels.connect(kubeconfig, { namespace: 'kube-system', pod, port }, scope.signal);
    return { ok: true, value: { kind: 'connected' } };
  } catch (error) {
    signal.throwIfAborted();
    if (scope.signal.aborted) {
      return leftMs < timeoutMs
        ? { ok: false, error: `${noConnection} within the timeout of the run` }
        : broken(`${noConnection} within ${formatGoDuration(timeoutMs)}`);
    }
    if (isRefused(error)) return { ok: false, error: `${error.message} (${neededRights})` };
    if (error instanceof ApiError || error instanceof KubeconfigError) return broken(error.message);
    throw error;
  } finally {
    scope.end();
  }
};
