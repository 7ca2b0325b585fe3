import type { ProcessRemains, Leftovers, ProcessName, SimEvent } from '../history.ts';
import type { Plan } from '../plan.ts';
import { type Known, stateful, stateless } from './invariant.ts';

/** Times at which each process received SIGTERM, and at which it last resumed after a suspension. */
interface Ends {
  readonly stopRequestedAt: ReadonlyMap<ProcessName, number>;
  readonly resumedAt: ReadonlyMap<ProcessName, number>;
}

type ProcessEvent = Extract<SimEvent, { kind: 'process' }>;

const noteProcess = (ends: Ends, { process, what, at }: ProcessEvent): Ends => {
  if (what === 'receives SIGTERM') return { ...ends, stopRequestedAt: new Map(ends.stopRequestedAt).set(process, at) };
  return what === 'goes on' ? { ...ends, resumedAt: new Map(ends.resumedAt).set(process, at) } : ends;
};

const processProblem = (
  { process, held = 0 }: ProcessEvent,
  { stopRequestedAt, resumedAt }: Ends,
  { model }: Known,
): string | undefined => {
  const requestedAt = stopRequestedAt.get(process) ?? Number.POSITIVE_INFINITY;
  // The time for a stop is limited: the process does not wait for servers that do not respond, nor longer after a suspension.
  const isExcused = model.faults.length > 0 || (resumedAt.get(process) ?? Number.NEGATIVE_INFINITY) >= requestedAt;
  return held === 0 || isExcused ? undefined : `process ${process} ended with ${String(held)} timers and requests`;
};

const leftProblem = ({ timers, exchanges, processes }: Leftovers): string | undefined => {
  if (timers > 0) return `${String(timers)} timers are left`;
  if (exchanges > 0) return `${String(exchanges)} requests are left`;
  return processes > 0 ? `${String(processes)} processes did not end` : undefined;
};

/** A process that ends releases everything, and nothing is left when all have stopped. */
export const leaks = stateful<Ends>(
  'nothing leaks',
  { stopRequestedAt: new Map(), resumedAt: new Map() },
  (before, event, known) => {
    if (event.kind === 'over') return { state: before, problem: leftProblem(event.leftovers) };
    if (event.kind !== 'process') return { state: before };
    const state = noteProcess(before, event);
    return { state, problem: processProblem(event, state, known) };
  },
);

/**
 * Returns the limits for a process without shoots or weedings: its watches, and a timeout for the silence of each; the renewal of the Lease
 * and its deadline.
 */
const limitsAtRest = ({ component, outside, elected }: Plan): Pick<ProcessRemains, 'timers' | 'requests'> => {
  const watches = component === 'weeder' ? 1 : outside === undefined ? 7 : 8;
  return { requests: watches, timers: watches + (elected ? 2 : 0) };
};

/** A process holds nothing per shoot after the shoots are deleted, and nothing per weeding after the weedings are over. */
export const atRest = stateless('nothing held at rest', (event, { rules }) => {
  if (event.kind !== 'at rest') return undefined;
  const { process, held } = event;
  const { timers, requests, counted, rememberedShoots } = held;
  const allowed = limitsAtRest(rules.plan);
  if (timers > allowed.timers) return `process ${process} holds ${String(timers)} timers`;
  if (requests > allowed.requests) return `process ${process} holds ${String(requests)} requests`;
  if (counted.length > 0) return `process ${process} still counts ${counted.join(', ')}`;
  if (rememberedShoots.length === 0) return undefined;
  return `metrics of process ${process} remember shoots that are gone: ${rememberedShoots.join(', ')}`;
});
