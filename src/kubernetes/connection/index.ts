export { connectCluster } from './cluster-connection.ts';
export { type ForwardOptions, forwardPort } from './forwarded-port.ts';
export { createKubeconfigCache } from './kubeconfig-cache.ts';
export { type PodPort, createTunnelConnector, withTunnelPolicy } from './port-forward.ts';
export { createShootConnector, withShootPolicy } from './shoot-connector.ts';
