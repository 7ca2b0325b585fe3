import type { ProcessName } from '../history.ts';
import { electionSettings } from '../../harness/index.ts';
import { stateful } from './invariant.ts';

/** A process ends only because of SIGTERM, or because it lost the Lease. */
export const survival = stateful<ReadonlySet<ProcessName>>(
  'no crash',
  new Set(),
  (stopRequested, event, { model, rules }) => {
    if (event.kind !== 'process') return { state: stopRequested };
    const { process, what } = event;
    if (what === 'receives SIGTERM') return { state: new Set(stopRequested).add(process) };
    if (what !== 'has ended' || stopRequested.has(process)) return { state: stopRequested };
    const renewedAt = model.leader.renewals.get(process);
    const { retryPeriodMs } = electionSettings(true);
    // The Lease cannot be lost while it is renewed in time and all responses arrive. After a lost response, the next attempt gets a conflict.
    const isRenewed = renewedAt !== undefined && model.at - renewedAt < retryPeriodMs;
    const wasHampered = model.processes.stalls.some(({ to = model.at }) => model.at - to < 2 * retryPeriodMs);
    const mayBeLost =
      rules.plan.elected && renewedAt !== undefined && (!isRenewed || model.faults.length > 0 || wasHampered);
    return { state: stopRequested, problem: mayBeLost ? undefined : `process ${process} ended by itself` };
  },
);
