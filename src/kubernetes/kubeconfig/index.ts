export type { ClusterAccess } from './operator-context.ts';
export { loadOperatorKubeconfig } from './operator.ts';
export {
  type ShootEndpoint,
  decodeKubeconfigSecret,
  decodeKubeconfigUnder,
  parseUntrustedKubeconfig,
  refuseInsecure,
} from './untrusted.ts';
