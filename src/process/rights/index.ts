export {
  type DiscoveryAccess,
  type NeededRight,
  RightsCheck,
  type RightsCheckOptions,
} from './check-rights.ts';
export { type Grant, eventGrant, leaseGrants, rightsOf, watched } from './grants.ts';
