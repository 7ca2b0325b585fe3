import type { CareShoot } from '../../gardener/care-shoots.ts';
import { listNodeHealth } from '../../gardener/node.ts';
import { type Call, smallResponseBytes } from '../../kubernetes/api/call.ts';
import { formatGoDuration } from '../../kubernetes/api/duration.ts';
import { ApiError, KubeconfigError, resultOf } from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import { type Lease, listNodeLeasesWithin } from '../../kubernetes/api/lease.ts';
import { listCall, runBounds } from '../../kubernetes/api/list-call.ts';
import { type TunnelPod, decodeTunnelPod } from '../../kubernetes/api/pod.ts';
import type { ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import type { TunnelConnector } from '../../kubernetes/api/tunnel-connection.ts';
import { runInScope } from '../../kubernetes/transport/index.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type HealthzObservation,
  type Read,
  type SeedObservation,
  type ShootObservation,
  type TunnelObservation,
  hasWorkers,
} from '../judge/observation.ts';

/** Resolves with the 2xx status and the body. */
const getHealthz: Call<Pick<HealthzObservation, 'status' | 'text'>> = {
  method: 'GET',
  path: '/healthz',
  bytes: smallResponseBytes,
  decode: (json) => ({ status: 200, text: JSON.stringify(json) }),
  text: (text, status) => ({ status, text }),
};

export const listNodeLeaseExpiries: Call<readonly Lease[]> = listNodeLeasesWithin(runBounds.leases);

/** Lists the pods at the shoot's end of the tunnel to its control plane. */
export const listTunnelPods: Call<readonly TunnelPod[]> = listCall({
  path: '/api/v1/namespaces/kube-system/pods',
  query: { labelSelector: 'type=tunnel' },
  kind: 'PodList',
  decode: decodeTunnelPod,
  nameOf: ({ name }) => name,
  bounds: runBounds.tunnelPods,
});

export interface ObserveDeps {
  readonly clock: Clock;
  readonly connector: ShootConnector;
  readonly tunnels: TunnelConnector;
}

/** Limits of one check. */
export interface CheckLimits {
  /** Timeout of all reads together, in milliseconds. */
  readonly timeoutMs: number;
  /** End of that time, in monotonic milliseconds. */
  readonly readsEnd: number;
  readonly signal: AbortSignal;
}

export interface ObserveRequest extends ObserveDeps, CheckLimits {
  readonly shoot: CareShoot;
  readonly seed: SeedObservation;
  /** Undefined if there is none; `secretKey` says where it was looked for. */
  readonly kubeconfig: string | undefined;
  /** `namespace/name` of the Secret with the shoot's kubeconfig. */
  readonly secretKey: string;
}

/** A request whose shoot may be asked. */
interface Reading extends ObserveRequest {
  readonly kubeconfig: string;
  readonly client: KubeClient;
}

/** Timeout of `/healthz`. An API server that does not respond is down, and the check needs the remaining time to report that. */
const healthzTimeoutMs = 10_000;

/**
 * Reads from the shoot's own API server, over a connection that only this check uses. A read that has not ended by the deadline is a failed read. Rejects only
 * with `signal.reason`, or for a bug.
 */
export const observeShoot = async (request: ObserveRequest): Promise<ShootObservation> => {
  const { shoot, seed, kubeconfig, secretKey, connector } = request;
  if (shoot.hibernated) return { kind: 'not-running' };
  if (!seed.deployments.ok) return { kind: 'no-client', error: seed.deployments.error };
  const apiServer = seed.deployments.value.find(({ meta }) => meta.name === 'kube-apiserver');
  if (apiServer === undefined || apiServer.meta.deleting || apiServer.replicas === 0) return { kind: 'not-running' };
  if (kubeconfig === undefined) {
    return { kind: 'no-client', error: `there is no Secret ${secretKey} with a key "kubeconfig"` };
  }
  try {
    const connection = connector.clientFor(kubeconfig);
    return await readShoot({ ...request, kubeconfig, client: connection.client }).finally(() => connection.close());
  } catch (error) {
    if (error instanceof KubeconfigError) return { kind: 'no-client', error: error.message };
    throw error;
  }
};

/** Reads everything that the checks need. A server that does not respond to `/healthz` gets no more requests, because each would time out, too. */
const readShoot = async (reading: Reading): Promise<ShootObservation> => {
  const healthz = await readHealthz(reading);
  const isSilent = healthz.status === undefined;
  if (isSilent || !hasWorkers(reading.shoot)) {
    const unread = { ok: false, error: isSilent ? healthz.text : 'workerless shoots have none' } as const;
    return { kind: 'observed', healthz, nodes: unread, leases: unread, tunnel: unread };
  }
  const [nodes, leases, tunnel] = await Promise.all([
    read(reading, listNodeHealth),
    read(reading, listNodeLeaseExpiries),
    read(reading, listTunnelPods).then((pods) => (pods.ok ? readTunnel(reading, pods.value) : pods)),
  ]);
  return { kind: 'observed', healthz, nodes, leases, tunnel };
};

const readHealthz = async ({ clock, client, signal, timeoutMs }: Reading): Promise<HealthzObservation> => {
  const startedAt = clock.monotonic();
  const options = { signal, timeoutMs: Math.min(healthzTimeoutMs, timeoutMs / 2) };
  const answer = await resultOf(client.call(getHealthz, options), signal);
  const told = answer.ok ? answer.value.value : { status: answer.error.status, text: answer.error.message };
  return { ...told, responseMs: Math.round(clock.monotonic() - startedAt) };
};

const leftMs = ({ readsEnd, clock }: Reading): number => readsEnd - clock.monotonic();

const read = async <T>(reading: Reading, call: Call<T>): Promise<Read<T>> => {
  const { client, signal } = reading;
  // At least 1 ms, so that a read after the deadline fails with a Timeout like any other.
  const timeoutMs = Math.max(1, leftMs(reading));
  const answer = await resultOf(client.call(call, { signal, timeoutMs }), signal);
  if (answer.ok) return { ok: true, value: answer.value.value };
  const { code, status, message } = answer.error;
  if (code !== 'Timeout' || status !== undefined) return { ok: false, error: message };
  // The time left for a read varies, and care would write every new message. So this one names the time of all reads.
  const text = `no response within the timeout of the run, ${formatGoDuration(reading.timeoutMs)}`;
  return { ok: false, error: `${call.method} ${call.path}: ${text}` };
};

/** Tests the tunnel to the shoot's network with a connection through it. If the deadline ends the test, the result is a failed read. */
const readTunnel = async (reading: Reading, pods: readonly TunnelPod[]): Promise<Read<TunnelObservation>> => {
  const { clock, tunnels, signal, kubeconfig } = reading;
  if (pods.length === 0) return { ok: true, value: { kind: 'not-deployed' } };
  const pod = pods.find(({ running, app }) => running && app === tunnelApp)?.name;
  if (pod === undefined) return broken(`no running ${tunnelApp} pod found yet in the shoot cluster`);
  const noConnection = `no connection to port ${tunnelPort} of pod kube-system/${pod}`;
  const left = leftMs(reading);
  const late = new Error(noConnection);
  const timeoutMs = Math.max(0, Math.min(tunnelTimeoutMs, left));
  signal.throwIfAborted();
  try {
    await runInScope({ signal, clock, timeoutMs, onTimeout: () => late }, (until) =>
      tunnels.connect(kubeconfig, { namespace: 'kube-system', pod, port: tunnelPort }, until),
    );
    return { ok: true, value: { kind: 'connected' } };
  } catch (error) {
    signal.throwIfAborted();
    if (error === late) {
      return left < tunnelTimeoutMs
        ? { ok: false, error: `${noConnection} within the timeout of the run` }
        : broken(`${noConnection} within ${formatGoDuration(tunnelTimeoutMs)}`);
    }
    if (isRefused(error)) return { ok: false, error: `${error.message} (${tunnelRights})` };
    if (error instanceof ApiError || error instanceof KubeconfigError) return broken(error.message);
    throw error;
  }
};

const [tunnelApp, tunnelPort] = ['vpn-shoot', 22];
const tunnelTimeoutMs = 5_000;
/** Added to the error, because an API server that refuses the upgrade does not name the missing right. */
const tunnelRights = 'a tunnel needs the rights to get and create pods/portforward in kube-system';

/** True if we lack the right to try the tunnel, and thus cannot know if it is broken. */
const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'Forbidden' || error.code === 'Unauthorized');

const broken = (error: string): Read<TunnelObservation> => ({ ok: true, value: { kind: 'broken', error } });
