export { findHeldInCache, watchCacheListOptions } from './held-in-cache.ts';
export { type HeldResource, findHeldOf, heldName } from './held.ts';
export { listHeld, listHeldOf } from './list-held.ts';
export { type OwnedResource, findOwned, holdsOutside } from './cluster-owner.ts';
export { releaseHeld } from './release-held.ts';
export { foreseeRelease, formerSuffix } from './release-result.ts';
export { clusterOfHeld } from './release-settings.ts';
