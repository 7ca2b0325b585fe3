export { connectCluster } from './cluster-connection.ts';
export { type ForwardOptions, forwardPort } from './forwarded-port.ts';
export { createKubeconfigCache } from './kubeconfig-cache.ts';
export { type PodPort, createTunnelConnector } from './port-forward.ts';
export { createShootConnector } from './shoot-connector.ts';
export { withShootPolicy, withTunnelPolicy } from './shoot-policy.ts';
