export { createElection } from './leadership.ts';
export {
  connectSeed,
  type ProcessParts,
  runSeedProcess,
  type SeedPorts,
  type SeedProcessOptions,
} from './seed-process.ts';
