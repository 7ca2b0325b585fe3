export type { DependentSource, DependentSources } from './dependent-source.ts';
export { createDiscoveredInformer } from './discovered-informer.ts';
export { type Informer, createInformer } from './informer.ts';
export type { ObjectKey, Store, StoreChange } from './store.ts';
export { waitUntilOrDeadline, waitForSync } from './wait-for-sync.ts';
export {
  type KindWatch,
  type WatchKindDeps,
  watchKind,
} from './watch-kind.ts';
export { type WatchRegistry, createWatchRegistry } from './watch-registry.ts';
