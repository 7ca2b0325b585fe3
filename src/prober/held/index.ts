export { findHeldInCache, watchCacheListOptions } from './held-in-cache.ts';
export { type HeldResource, heldName } from './held.ts';
export { listHeld } from './list-held.ts';
export { clusterOfHeld, configuredAs, holdsOutside } from './owner.ts';
export { releaseHeld } from './release-held.ts';
export { shownHeld } from './held-unprobed.ts';
export { foreseeRelease, formerSuffix } from './release-result.ts';
