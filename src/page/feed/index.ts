export {
  type FaultKind,
  type FeedEvents,
  type Origin,
  type Sample,
  type SeedMessage,
  type SeedView,
  type ShootFaults,
  changesBetween,
  sampleOf,
  seedAfter,
  wholeOf,
} from './feed.ts';
