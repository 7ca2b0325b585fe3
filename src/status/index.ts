export { installedConfiguration } from './installed-settings.ts';
export { isPlainHealthy } from './judge.ts';
export { readStatusOfPod } from './ask-prober.ts';
export { type LeaderAnswer, type StatusRun, askLeader, readStatus } from './read-status.ts';
export type { Replica, SeedStatus, SeenShoot } from './seed-status.ts';
