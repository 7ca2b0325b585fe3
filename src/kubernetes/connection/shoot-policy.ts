import type { ShootConnector, ShootPolicy } from '../api/shoot-connection.ts';
import type { TunnelConnector } from '../api/tunnel-connection.ts';

/** The connector, with what the configuration in force allows: connectors live longer than a configuration. */
export const withShootPolicy = (connector: ShootConnector, policy: ShootPolicy): ShootConnector => ({
  clientFor: (kubeconfig) => connector.clientFor(kubeconfig, policy),
});

export const withTunnelPolicy = (tunnels: TunnelConnector, { allowInsecureShoots }: ShootPolicy): TunnelConnector => ({
  connect: (kubeconfig, target, signal) =>
    tunnels.connect(kubeconfig, allowInsecureShoots === true ? { ...target, allowInsecureShoots } : target, signal),
});
