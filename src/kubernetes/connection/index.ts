export { connectCluster } from './cluster-connection.ts';
export { createKubeconfigCache } from './kubeconfig-cache.ts';
export { createTunnelConnector } from './port-forward.ts';
export { createShootConnector } from './shoot-connector.ts';
export { withShootPolicy, withTunnelPolicy } from './shoot-policy.ts';
