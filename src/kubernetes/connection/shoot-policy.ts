import type { ShootConnector, ShootPolicy } from '../api/shoot-connection.ts';
import type { TunnelConnector } from '../api/tunnel-connection.ts';

/** Applies the policy of the current configuration to a connector, which outlives configurations. */
export const withShootPolicy = (connector: ShootConnector, policy: ShootPolicy): ShootConnector => ({
  clientFor: (kubeconfig) => connector.clientFor(kubeconfig, policy),
});

export const withTunnelPolicy = (tunnels: TunnelConnector, { allowInsecureShoots }: ShootPolicy): TunnelConnector => ({
  connect: (kubeconfig, target, signal) =>
    tunnels.connect(kubeconfig, allowInsecureShoots === true ? { ...target, allowInsecureShoots } : target, signal),
});
