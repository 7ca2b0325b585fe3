import type { Fault, PlannedFault } from '../plan.ts';
import { aftermathMs, hampersWeeder, touches } from '../touches.ts';
import { stateful } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** A watch that is open shows an annotation at once; a request that was on its way is awaited. */
const heardMs = 10_000;

const isPause = ({ kind }: Fault): boolean => kind === 'protection-pause';

/** Whether a fault keeps a prober from seeing Namespaces, or its clock from telling when a pause ends. */
const blinds = (fault: Fault): boolean => hampersWeeder(fault) || fault.kind === 'watchdog-clock';

const holds = ({ at, forMs, fault }: PlannedFault, shoot: string, now: number): boolean =>
  isPause(fault) && touches(fault, shoot) && now >= at + heardMs && now < at + forMs;

/** Nobody scales a paused shoot down: not the leader, not a standby in its place. */
export const paused = stateful<number>(
  'paused is not scaled down',
  Number.NEGATIVE_INFINITY,
  (blindUntil, event, known) => {
    if (event.kind === 'fault' && blinds(event.planned.fault)) {
      return { state: Math.max(blindUntil, event.at + aftermathMs(event.planned.fault)) };
    }
    const write = watchdogWrite(event);
    if (write?.direction !== 'down') return { state: blindUntil };
    const { faults, at } = known.model;
    const isBlind = at < blindUntil || faults.some(({ fault }) => blinds(fault));
    const pause = faults.find((planned) => holds(planned, write.shoot, at));
    if (isBlind || pause === undefined) return { state: blindUntil };
    return { state: blindUntil, problem: `${write.shoot}: ${write.name} was scaled down during a pause` };
  },
);
