export { type Environment, environmentProxy, throughEnvironment } from './environment-proxy.ts';
export type { ClusterAccess } from './operator-context.ts';
export { loadOperatorKubeconfig } from './operator.ts';
export { UnfitFileError, readRegularFile } from './regular-file.ts';
export {
  type ShootEndpoint,
  decodeKubeconfigSecret,
  decodeKubeconfigUnder,
  parseUntrustedKubeconfig,
  refuseInsecure,
} from './untrusted.ts';
