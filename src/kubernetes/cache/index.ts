export { type Informer, type InformerDeps, createInformer } from './informer.ts';
export { type ObjectKey, type Store, type StoreChange, indexByNamespace } from './store.ts';
export { longestSilenceMs } from './watch.ts';
export { waitUntilOrDeadline, waitForSync } from './wait-for-sync.ts';
export {
  type DependentSource,
  type DependentSources,
  type KindWatch,
  type WatchKindDeps,
  watchKind,
} from './watch-kind.ts';
export { type WatchRegistry, createWatchRegistry } from './watch-registry.ts';
