import { kubeControllerManager } from '../../world/index.ts';
import { missedMs } from '../facts.ts';
import type { SimEvent } from '../history.ts';
import { aftermathMs, hampersWeeder } from '../touches.ts';
import { type Known, stateful } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** A watch that is open shows a change at once; a write that was on its way is awaited. */
const heardMs = 10_000;
/** From there until what comes up first is up: a write that is refused is tried again. */
const restoredMs = 30_000;

/** Until when watchdogs may know nothing of the seed: one that starts, that begins to lead, or that is hampered. */
const disturbedUntil = (event: SimEvent): number => {
  if (event.kind === 'process' || event.kind === 'leader') return event.at;
  const hampers = event.kind === 'fault' && hampersWeeder(event.planned.fault);
  return hampers ? event.at + aftermathMs(event.planned.fault) : Number.NEGATIVE_INFINITY;
};

interface State {
  readonly until: number;
  readonly holder: string;
}

/** A process runs, and has led where one is elected: whoever takes over a Lease waits until it has expired. */
const mayAct = ({ model, rules }: Known): boolean =>
  [...model.processes.lives.values()].some(
    ({ isRunning, ledAt }) => isRunning && (ledAt !== undefined || !rules.plan.elected),
  );

/** Who has not seen that a Secret was away, waits for it from the moment on at which it begins, or sees again. */
const waitedMs = ({ rules }: Known): number => (rules.plan.source === 'secret' ? missedMs : 0);

const isNoticed = (since: number, { until }: State, known: Known): boolean =>
  known.model.at >= Math.max(since, until + waitedMs(known)) + heardMs &&
  mayAct(known) &&
  !known.model.faults.some(({ fault }) => hampersWeeder(fault));

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

/** Nothing is held of a Cluster that is paused, being deleted or gone, or of one whose Secret is, nor scaled down: nobody else would bring it up again. */
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
