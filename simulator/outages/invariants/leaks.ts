import type { ProcessRemains, Leftovers, ProcessName, SimEvent } from '../history.ts';
import type { Plan } from '../plan.ts';
import { type Known, stateful, stateless } from './invariant.ts';

/** Times at which each process received SIGTERM, and at which it last resumed after a suspension. */
interface Ends {
  readonly told: ReadonlyMap<ProcessName, number>;
  readonly awake: ReadonlyMap<ProcessName, number>;
}

type ProcessEvent = Extract<SimEvent, { kind: 'process' }>;

const noteProcess = (ends: Ends, { life, what, at }: ProcessEvent): Ends => {
  if (what === 'is told to stop') return { ...ends, told: new Map(ends.told).set(life, at) };
  return what === 'goes on' ? { ...ends, awake: new Map(ends.awake).set(life, at) } : ends;
};

const processProblem = (
  { life, held = 0 }: ProcessEvent,
  { told, awake }: Ends,
  { model }: Known,
): string | undefined => {
  const toldAt = told.get(life) ?? Number.POSITIVE_INFINITY;
  // The time for a stop is limited: the process does not wait for servers that do not respond, nor longer after a suspension.
  const isExcused = model.faults.length > 0 || (awake.get(life) ?? Number.NEGATIVE_INFINITY) >= toldAt;
  return held === 0 || isExcused ? undefined : `process ${life} ended with ${String(held)} timers and requests`;
};

const leftProblem = ({ timers, exchanges, processes }: Leftovers): string | undefined => {
  if (timers > 0) return `${String(timers)} timers are left`;
  if (exchanges > 0) return `${String(exchanges)} requests are left`;
  return processes > 0 ? `${String(processes)} processes did not end` : undefined;
};

/** A process that ends releases everything, and nothing is left when all have stopped. */
export const leaks = stateful<Ends>('nothing leaks', { told: new Map(), awake: new Map() }, (before, event, known) => {
  if (event.kind === 'over') return { state: before, problem: leftProblem(event.leftovers) };
  if (event.kind !== 'process') return { state: before };
  const state = noteProcess(before, event);
  return { state, problem: processProblem(event, state, known) };
});

/**
 * Returns the limits for a process without shoots or weedings: its watches, and a timeout for the silence of each; the renewal of the Lease
 * and its deadline; for a weeder the next cleanup of owners; with Cluster API the next discovery of the served version.
 */
const heldAtRest = ({ component, source, outside, elected }: Plan): Pick<ProcessRemains, 'timers' | 'requests'> => {
  const watches = component === 'weeder' ? 1 : outside === undefined ? 7 : 8;
  const looksAgain = component === 'weeder' || source === 'cluster-api';
  return { requests: watches, timers: watches + (elected ? 2 : 0) + (looksAgain ? 1 : 0) };
};

/** A process holds nothing per shoot after the shoots are deleted, and nothing per weeding after the weedings are over. */
export const atRest = stateless('nothing held at rest', (event, { rules }) => {
  if (event.kind !== 'at rest') return undefined;
  const { life, held } = event;
  const { timers, requests, counted, rememberedShoots } = held;
  const allowed = heldAtRest(rules.plan);
  if (timers > allowed.timers) return `process ${life} holds ${String(timers)} timers`;
  if (requests > allowed.requests) return `process ${life} holds ${String(requests)} requests`;
  if (counted.length > 0) return `process ${life} still counts ${counted.join(', ')}`;
  if (rememberedShoots.length === 0) return undefined;
  return `metrics of process ${life} remember shoots that are gone: ${rememberedShoots.join(', ')}`;
});
