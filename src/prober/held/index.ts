export { findHeldInCache, watchCacheListOptions } from './held-in-cache.ts';
export { type HeldResource, heldName } from './held.ts';
export { listHeld } from './list-held.ts';
export { type OwnedResource, findOwned, holdsOutside } from './cluster-owner.ts';
export { releaseHeld } from './release-held.ts';
export { foreseeRelease, formerSuffix } from './release-result.ts';
export { clusterOfHeld } from './release-settings.ts';
