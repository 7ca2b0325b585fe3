import { kubeControllerManager } from '../../world/index.ts';
import { missingMs } from '../facts.ts';
import type { SimEvent } from '../history.ts';
import { aftermathMs, hampersSeedAccess } from '../hinders-protection.ts';
import { type Known, stateful } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** Time to notice a change: an open watch shows it at once, but a write may be in flight. */
const heardMs = 10_000;
/** Time from then until the first level is restored: a rejected write is retried. */
const restoredMs = 30_000;

/** Returns the time until which a watchdog may not know the seed, because it starts, begins to lead or is hampered. */
const disturbedUntil = (event: SimEvent): number => {
  if (event.kind === 'process' || event.kind === 'leader') return event.at;
  const hampers = event.kind === 'fault' && hampersSeedAccess(event.planned.fault);
  return hampers ? event.at + aftermathMs(event.planned.fault) : Number.NEGATIVE_INFINITY;
};

interface State {
  readonly until: number;
  readonly holder: string;
}

/** True if a process runs, and has led if there is an election: a new leader waits until the Lease has expired. */
const mayAct = ({ model, rules }: Known): boolean =>
  [...model.processes.byName.values()].some(
    ({ isRunning, ledAt }) => isRunning && (ledAt !== undefined || !rules.plan.elected),
  );

/** Returns how long a process that starts, or that can read the seed again, waits for a Secret whose absence it has not seen. */
const waitedMs = ({ rules }: Known): number => (rules.plan.source === 'secret' ? missingMs : 0);

const isNoticed = (since: number, { until }: State, known: Known): boolean =>
  known.model.at >= Math.max(since, until + waitedMs(known)) + heardMs &&
  mayAct(known) &&
  !known.model.faults.some(({ fault }) => hampersSeedAccess(fault));

const stillHeld = (state: State, known: Known): string | undefined => {
  const { model, rules } = known;
  if (rules.plan.source === undefined) return undefined;
  for (const [name, { phase, phaseSince, deployments }] of model.shoots) {
    const manager = deployments.get(kubeControllerManager);
    if (phase !== 'restore' || manager?.isHeld !== true || manager.isIgnored) continue;
    const since = Math.max(phaseSince, manager.ignoredAt) + restoredMs;
    if (manager.replicas > 0 || !isNoticed(since, state, known)) continue;
    return `${name}: ${kubeControllerManager} is still held ${((model.at - phaseSince) / 1_000).toFixed(0)} s after its cluster was left`;
  }
  return undefined;
};

const scaledDown = (event: SimEvent, state: State, known: Known): string | undefined => {
  const write = watchdogWrite(event);
  const shoot = known.model.shoots.get(write?.shoot ?? '');
  if (write?.direction !== 'down' || shoot?.phase !== 'restore') return undefined;
  if (!isNoticed(shoot.phaseSince, state, known)) return undefined;
  return `${write.shoot}: ${write.name} was scaled down though its Cluster is not to be probed`;
};

/**
 * No resource stays held or is scaled down if its Secret is gone: nobody else would restore it.
 */
export const givenBack = stateful<State>(
  'a cluster that is left is given back',
  { until: Number.NEGATIVE_INFINITY, holder: '' },
  (before, event, known) => {
    const isRenewal = event.kind === 'leader' && event.holder === before.holder;
    const until = isRenewal ? before.until : Math.max(before.until, disturbedUntil(event));
    const state = { until, holder: event.kind === 'leader' ? event.holder : before.holder };
    if (event.kind === 'tick') return { state, problem: stillHeld(state, known) };
    return { state, problem: scaledDown(event, state, known) };
  },
);
