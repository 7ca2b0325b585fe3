export { getElectionLease } from './election-calls.ts';
export { LeaderElector } from './leader-elector.ts';
