export {
  type FaultKind,
  type FeedEvents,
  type Origin,
  type PageSample,
  type SeedMessage,
  type SeedView,
  type FaultsOfShoot,
  changesBetween,
  sampleOf,
  seedAfter,
  fullMessageOf,
} from './feed.ts';
