import type { CareShoot } from '../gardener/care-shoots.ts';
import { listWorkerNodes } from '../gardener/node.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import type { Store } from '../kubernetes/cache/index.ts';
import type { Clock } from '../ports/clock.ts';
import { getHealthz, listNodeLeaseExpiries, listTunnelPods } from './calls.ts';
import {
  type HealthzObservation,
  type Read,
  type SeedObservation,
  type ShootObservation,
  type TunnelObservation,
  hasWorkers,
} from './checks/observation.ts';
import { type TunnelDeps, observeTunnel } from './tunnel.ts';

export interface ObserveDeps extends TunnelDeps {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  /** Texts of kubeconfigs, by `namespace/name` of their Secret. */
  readonly kubeconfigs: Store<string | undefined>;
}

export interface ObserveRequest {
  readonly shoot: CareShoot;
  readonly seed: SeedObservation;
  /** `namespace/name` of the Secret with the shoot's kubeconfig. */
  readonly secretKey: string;
  /** Timeout of all reads of the check together. */
  readonly timeoutMs: number;
  /** End of that time, in monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

interface Reading {
  readonly deps: ObserveDeps;
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly timeoutMs: number;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Timeout of `/healthz`. An API server that does not respond is down, and the check needs the remaining time to report that. */
const healthzTimeoutMs = 10_000;

const apiServerState = ({ deployments }: SeedObservation): Read<boolean> => {
  if (!deployments.ok) return deployments;
  const apiServer = deployments.value.find(({ meta }) => meta.name === 'kube-apiserver');
  return { ok: true, value: apiServer !== undefined && !apiServer.meta.deleting && apiServer.replicas > 0 };
};

/**
 * Reads from the shoot's own API server, over a connection that only this check uses. A read that has not ended by the deadline is a failed read. Rejects only
 * with `signal.reason`, or for a bug.
 */
export const observe = async (deps: ObserveDeps, request: ObserveRequest): Promise<ShootObservation> => {
  const { shoot, seed, secretKey, signal } = request;
  if (shoot.hibernated) return { kind: 'hibernated' };
  const running = apiServerState(seed);
  if (!running.ok) return { kind: 'no-client', error: running.error };
  if (!running.value) return { kind: 'not-running' };
  const kubeconfig = deps.kubeconfigs.get(secretKey);
  if (kubeconfig === undefined) {
    return { kind: 'no-client', error: `there is no Secret ${secretKey} with a key "kubeconfig"` };
  }
  const connection = clientFor(deps, kubeconfig);
  if (!connection.ok) return { kind: 'no-client', error: connection.error };
  const { client } = connection.value;
  try {
    const { timeoutMs, deadline } = request;
    const reading: Reading = { deps, client, kubeconfig, timeoutMs, deadline, signal };
    return await readAll(reading, shoot, Math.min(healthzTimeoutMs, timeoutMs / 2));
  } finally {
    connection.value.close();
  }
};

const clientFor = ({ connector }: ObserveDeps, kubeconfig: string): Read<ShootConnection> => {
  try {
    return { ok: true, value: connector.clientFor(kubeconfig) };
  } catch (error) {
    if (error instanceof KubeconfigError) return { ok: false, error: error.message };
    throw error;
  }
};

/** Reads everything that the checks need. A server that does not respond to `/healthz` gets no more requests, because each would time out, too. */
const readAll = async (reading: Reading, shoot: CareShoot, timeoutMs: number): Promise<ShootObservation> => {
  const { healthz, silent } = await readHealthz(reading, timeoutMs);
  if (silent !== undefined || !hasWorkers(shoot)) {
    const unread = { ok: false, error: silent ?? 'workerless shoots have none' } as const;
    return { kind: 'observed', healthz, nodes: unread, leases: unread, tunnel: unread };
  }
  const [nodes, leases, tunnel] = await Promise.all([
    read(reading, listWorkerNodes),
    read(reading, listNodeLeaseExpiries),
    readTunnel(reading),
  ]);
  return { kind: 'observed', healthz, nodes, leases, tunnel };
};

const readHealthz = async (
  { deps, client, signal }: Reading,
  timeoutMs: number,
): Promise<{ readonly healthz: HealthzObservation; readonly silent?: string }> => {
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
    // A redirect is a response, though not one of a healthy API server.
    if (status !== undefined && status < 400) {
      return { healthz: { kind: 'answered', status, body: message, responseMs } };
    }
    const healthz: HealthzObservation = { kind: 'failed', error: message, responseMs };
    return status === undefined ? { healthz, silent: message } : { healthz };
  }
};

/** Describes a failed read. For a timeout it names the time of the whole check: the time left for a read varies, and care would write every new message. */
const problemOf = ({ timeoutMs }: Reading, { method, path }: Call<unknown>, error: ApiError): string =>
  error.code === 'Timeout' && error.status === undefined
    ? `${method} ${path}: no response within the timeout of the run, ${formatGoDuration(timeoutMs)}`
    : error.message;

const read = async <T>(reading: Reading, call: Call<T>): Promise<Read<T>> => {
  const { deps, client, deadline, signal } = reading;
  try {
    // At least 1 ms, so that a read after the deadline fails with a Timeout like any other.
    const timeoutMs = Math.max(1, deadline - deps.clock.monotonic());
    return { ok: true, value: (await client.call(call, { signal, timeoutMs })).value };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { ok: false, error: problemOf(reading, call, error) };
    throw error;
  }
};

const readTunnel = async (reading: Reading): Promise<Read<TunnelObservation>> => {
  const pods = await read(reading, listTunnelPods);
  if (!pods.ok) return pods;
  const { deps, kubeconfig, deadline, signal } = reading;
  return observeTunnel(deps, { kubeconfig, pods: pods.value, deadline, signal });
};
