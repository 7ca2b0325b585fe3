import {
  ApiError,
  type Call,
  type CareShoot,
  formatGoDuration,
  getHealthz,
  KubeconfigError,
  listWorkerNodes,
  listNodeLeaseExpiries,
  listTunnelPods,
} from '../../domain/index.ts';
import type { Clock, KubeClient, ShootConnection, ShootConnector, Store } from '../../ports/index.ts';
import {
  type HealthzView,
  hasWorkers,
  type Read,
  type SeedView,
  type ShootView,
  type TunnelView,
} from './observation.ts';
import { lookAtTunnel, type TunnelDeps } from './tunnel.ts';

export interface ObserveDeps extends TunnelDeps {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
}

export interface LookRequest {
  readonly shoot: CareShoot;
  readonly seed: SeedView;
  /** `namespace/name` of the Secret with the shoot's kubeconfig. */
  readonly secretKey: string;
  /** Of a run's reads together. */
  readonly timeoutMs: number;
  /** Monotonic instant at which that is over. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

interface Ask {
  readonly deps: ObserveDeps;
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly timeoutMs: number;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Of `/healthz` alone: an API server that does not answer is down, and must be told so within the run. */
const healthzTimeoutMs = 10_000;

const apiServerState = ({ deployments }: SeedView): Read<boolean> => {
  if (!deployments.ok) return deployments;
  const apiServer = deployments.value.find(({ meta }) => meta.name === 'kube-apiserver');
  return { ok: true, value: apiServer !== undefined && !apiServer.meta.deleting && apiServer.replicas > 0 };
};

/**
 * Asks the shoot's own API server, on a connection of this run. What has not come in by the deadline could not be read. Rejects only with
 * `signal.reason`.
 */
export const observe = async (deps: ObserveDeps, request: LookRequest): Promise<ShootView> => {
  const { shoot, seed, secretKey, signal } = request;
  if (shoot.hibernated) return { kind: 'asleep' };
  const running = apiServerState(seed);
  if (!running.ok) return { kind: 'no-client', error: running.error };
  if (!running.value) return { kind: 'not-running' };
  const kubeconfig = deps.kubeconfigs.get(secretKey);
  if (kubeconfig === undefined) {
    return { kind: 'no-client', error: `there is no Secret ${secretKey} with a key "kubeconfig"` };
  }
  const connection = connect(deps, kubeconfig);
  if (!connection.ok) return { kind: 'no-client', error: connection.error };
  const { client } = connection.value;
  try {
    const { timeoutMs, deadline } = request;
    const ask: Ask = { deps, client, kubeconfig, timeoutMs, deadline, signal };
    return await look(ask, shoot, Math.min(healthzTimeoutMs, timeoutMs / 2));
  } finally {
    connection.value.close();
  }
};

const connect = ({ connector }: ObserveDeps, kubeconfig: string): Read<ShootConnection> => {
  try {
    return { ok: true, value: connector.connect(kubeconfig) };
  } catch (error) {
    if (error instanceof KubeconfigError) return { ok: false, error: error.message };
    throw error;
  }
};

/** A server that does not answer at all is not asked for more: each question would take its time only to say the same. */
const look = async (ask: Ask, shoot: CareShoot, timeoutMs: number): Promise<ShootView> => {
  const { healthz, silent } = await lookAtHealthz(ask, timeoutMs);
  if (silent !== undefined || !hasWorkers(shoot)) {
    const unread = { ok: false, error: silent ?? 'workerless shoots have none' } as const;
    return { kind: 'looked', healthz, nodes: unread, leases: unread, tunnel: unread };
  }
  const [nodes, leases, tunnel] = await Promise.all([
    read(ask, listWorkerNodes),
    read(ask, listNodeLeaseExpiries),
    readTunnel(ask),
  ]);
  return { kind: 'looked', healthz, nodes, leases, tunnel };
};

const lookAtHealthz = async (
  { deps, client, signal }: Ask,
  timeoutMs: number,
): Promise<{ readonly healthz: HealthzView; readonly silent?: string }> => {
  const { clock } = deps;
  const startedAt = clock.monotonic();
  const elapsed = (): number => Math.round(clock.monotonic() - startedAt);
  try {
    const { value } = await client.call(getHealthz, { signal, timeoutMs });
    return { healthz: { kind: 'answered', ...value, responseMs: elapsed() } };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    const { status, message } = error;
    const responseMs = elapsed();
    // A redirect is an answer, though not of a healthy API server.
    if (status !== undefined && status < 400) {
      return { healthz: { kind: 'answered', status, body: message, responseMs } };
    }
    const healthz: HealthzView = { kind: 'failed', error: message, responseMs };
    return status === undefined ? { healthz, silent: message } : { healthz };
  }
};

/** What is left for a read differs from run to run; a message that did would be written each time. */
const problemOf = ({ timeoutMs }: Ask, { method, path }: Call<unknown>, error: ApiError): string =>
  error.code === 'Timeout' && error.status === undefined
    ? `${method} ${path}: no answer when the time of the run, ${formatGoDuration(timeoutMs)}, was over`
    : error.message;

const read = async <T>(ask: Ask, call: Call<T>): Promise<Read<T>> => {
  const { deps, client, deadline, signal } = ask;
  try {
    // At least 1 ms: a run whose time is up ends in a Timeout like any other.
    const timeoutMs = Math.max(1, deadline - deps.clock.monotonic());
    return { ok: true, value: (await client.call(call, { signal, timeoutMs })).value };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { ok: false, error: problemOf(ask, call, error) };
    throw error;
  }
};

const readTunnel = async (ask: Ask): Promise<Read<TunnelView>> => {
  const pods = await read(ask, listTunnelPods);
  if (!pods.ok) return pods;
  const { deps, kubeconfig, deadline, signal } = ask;
  return lookAtTunnel(deps, { kubeconfig, pods: pods.value, deadline, signal });
};
