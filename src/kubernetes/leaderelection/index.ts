export { getElectionLease, isHeldByOurs } from './election-calls.ts';
export { electionJitterFactor } from './election-state.ts';
export { LeaderElector } from './leader-elector.ts';
