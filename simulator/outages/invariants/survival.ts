import type { ProcessName } from '../history.ts';
import { electionSettings } from '../../harness/index.ts';
import { stateful } from './invariant.ts';

/** A process ends only because of SIGTERM, or because it lost the Lease. */
export const survival = stateful<ReadonlySet<ProcessName>>('no crash', new Set(), (told, event, { model, rules }) => {
  if (event.kind !== 'process') return { state: told };
  const { life, what } = event;
  if (what === 'is told to stop') return { state: new Set(told).add(life) };
  if (what !== 'has ended' || told.has(life)) return { state: told };
  const renewedAt = model.leader.renewals.get(life);
  const { retryPeriodMs } = electionSettings(true);
  // The Lease cannot be lost while it is renewed in time and all responses arrive. After a lost response, the next attempt gets a conflict.
  const isRenewed = renewedAt !== undefined && model.at - renewedAt < retryPeriodMs;
  const wasHampered = model.processes.stalls.some(({ to = model.at }) => model.at - to < 2 * retryPeriodMs);
  const mayBeLost =
    rules.plan.elected && renewedAt !== undefined && (!isRenewed || model.faults.length > 0 || wasHampered);
  return { state: told, problem: mayBeLost ? undefined : `process ${life} ended by itself` };
});
