export { installedConfiguration } from './installed-settings.ts';
export { findNamedShoot, fullTitleOf } from './find-named-shoot.ts';
export { titleOf } from './state/find-shoot.ts';
export {
  type LeaderAnswer,
  type LeaderQuery,
  type StatusRun,
  askLeader,
  isNoSeed,
  noSeed,
  readStatus,
} from './read-status.ts';
export { readNamespaces } from './read-held.ts';
export { readSeedObjects } from './read-objects.ts';
export { type PageRun, forwardPage } from './forward-page.ts';
export type { SeedStatus } from './judge.ts';
