import type { Plan } from '../plan.ts';
import { type Bug, type Shape, shape } from './bug.ts';

const isElected = ({ elected }: Plan): boolean => elected;
/** True if one of two probers may take the Lease while the other scales Deployments. */
const areRivals = ({ component, replicas, latencyMs }: Plan): boolean =>
  component === 'prober' && replicas > 1 && latencyMs > 0;
const isPaused = ({ elected, faults }: Plan): boolean => elected && faults.some(({ fault }) => fault.kind === 'pause');

/** Bugs of the leader election, which both components use. */
export const electionBugs: readonly Bug[] = [
  {
    name: 'the renew deadline is ignored',
    of: 'leadsUntil',
    change:
      (leadsUntil) =>
      (...args) =>
        Number(leadsUntil(...args)) + 60_000,
    breaks: ['no write after leadership is lost'],
    among: isElected,
    knownPlan: 113,
  },
  {
    name: 'a Lease is taken before it has run out',
    of: 'electionState',
    change:
      (electionState) =>
      (memory = {}, ...rest): Shape => {
        const state = shape(electionState(memory, ...rest));
        const isTheirs = state.kind === 'held' && memory.lease !== undefined;
        return isTheirs ? { kind: 'free', lease: memory.lease, reason: 'expired' } : state;
      },
    breaks: ['never two leaders writing'],
    among: areRivals,
    knownPlan: 190,
  },
  {
    name: 'writes go on after leadership is lost',
    of: 'fenceWrites',
    change: () => (kube) => kube,
    breaks: ['no write after leadership is lost', 'never two leaders writing'],
    among: isPaused,
    knownPlan: 644,
  },
];
