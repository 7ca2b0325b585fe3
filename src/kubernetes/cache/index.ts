export type { DependentSource, DependentSources } from './dependent-source.ts';
export { createDiscoveredInformer } from './discovered-informer.ts';
export { type Informer, createInformer } from './informer.ts';
export type { ObjectKey, Store, StoreChange } from './store.ts';
export { waitForRest, waitForSync } from './wait-for-sync.ts';
export { type WatchByName, type WatchByNameDeps, watchByName } from './watch-by-name.ts';
export { type WatchRegistry, createWatchRegistry } from './watch-registry.ts';
