export type { ClusterAccess } from './access.ts';
export { loadOperatorKubeconfig } from './operator.ts';
export { decodeKubeconfigSecret } from './secret.ts';
export { type ShootEndpoint, parseUntrustedKubeconfig, refuseInsecure } from './untrusted.ts';
