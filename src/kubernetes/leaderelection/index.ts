export { getElectionLease } from './election-calls.ts';
export { createLeaderElector } from './leader-elector.ts';
