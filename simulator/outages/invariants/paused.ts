import type { Fault, PlannedFault } from '../plan.ts';
import { aftermathMs, hampersSeedAccess, hindersProtection } from '../hinders-protection.ts';
import { stateful } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** Time to notice a pause: an open watch shows the annotation at once, but a request may be in flight. */
const heardMs = 10_000;

const isPause = ({ kind }: Fault): boolean => kind === 'protection-pause';

/** True if a fault keeps a prober from reading Namespaces, or makes its clock wrong, so that a pause may seem to have ended. */
const blinds = (fault: Fault): boolean => hampersSeedAccess(fault) || fault.kind === 'watchdog-clock';

const holds = ({ at, forMs, fault }: PlannedFault, shoot: string, now: number): boolean =>
  isPause(fault) && hindersProtection(fault, shoot) && now >= at + heardMs && now < at + forMs;

/** No process scales a paused shoot down: neither the leader nor a standby in its place. */
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
