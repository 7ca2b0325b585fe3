export { type Credentials, staticCredentials, withCredentials } from './auth.ts';
export { type ClusterConnectionOptions, connectCluster } from './cluster-connection.ts';
export { createKubeClient, type KubeClientOptions } from './client.ts';
export { groupVersionPath, type ResolvedKind, resolveKind } from './discovery.ts';
export type { Endpoint, ProxyEndpoint } from './endpoint.ts';
export { createInformer, type Informer, type InformerOptions, type InformerState } from './informer.ts';
export type { ClusterAccess, OperatorOptions } from './kubeconfig/access.ts';
export { loadOperatorKubeconfig } from './kubeconfig/operator.ts';
export { decodeKubeconfigSecret } from './kubeconfig/secret.ts';
export { parseUntrustedKubeconfig, refuseInsecure, type ShootEndpoint } from './kubeconfig/untrusted.ts';
export { createSecurity, type Security, type TlsMaterial } from './security.ts';
export { createKnownShoots, type KnownShoots } from './known-shoots.ts';
export { withShootPolicy, withTunnelPolicy } from './shoot-policy.ts';
export { createTunnelConnector, type TunnelConnectorOptions } from './port-forward.ts';
export { createShootConnector, type ShootConnectorOptions } from './shoot-connector.ts';
export { createTransport, type Transport, type TransportOptions } from './transport.ts';
export { createWatchRegistry, type WatchRegistry } from './watch-registry.ts';
export { waitForSync, type WaitForSyncOptions } from './wait-for-sync.ts';
export {
  createLeaderElector,
  type LeaderElector,
  type LeaderElectorOptions,
  type LeadershipEnd,
} from './leader-elector.ts';
export { fenceWrites } from './fence-writes.ts';
export { inLane } from './in-lane.ts';
export { createRateLimiter, type RateLimiter, type RateLimiterOptions, withRateLimit } from './rate-limit.ts';
export { longestRetryAfterMs } from './retry-after.ts';
export { retryThrottled } from './retry-throttled.ts';
export { type TrackedWrites, trackWrites } from './track-writes.ts';
