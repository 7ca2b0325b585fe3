import { electionSettings } from '../../harness/index.ts';
import type { ProcessName } from '../history.ts';
import type { Plan } from '../plan.ts';
import type { Invariant } from './invariant.ts';

const windowMs = 10_000;
/** Of four shoots three resources each are tried again once a second, and their machines are listed every two seconds; twenty for the rest. */
const mostInWindow = 160;

/** Failures do not cause a hot loop of requests. */
export const noStorm: Invariant = {
  name: 'no storm of requests',
  begin: () => {
    const windows = new Map<string, { readonly from: number; count: number }>();
    return (event) => {
      if (event.kind !== 'request' || event.stage !== 'sent') return undefined;
      const key = `${event.process}/${event.server}`;
      let window = windows.get(key);
      if (window === undefined || event.at - window.from >= windowMs) {
        window = { from: event.at, count: 0 };
        windows.set(key, window);
      }
      window.count += 1;
      if (window.count <= mostInWindow) return undefined;
      return `process ${event.process} sent ${String(window.count)} requests to ${event.server} within 10 s`;
    };
  },
};

/** A process ends only because of SIGTERM, or because it lost the Lease. */
export const survival: Invariant = {
  name: 'no crash',
  begin: (model) => {
    const stopping = new Set<ProcessName>();
    return (event) => {
      if (event.kind !== 'process') return undefined;
      const { process, what, at } = event;
      if (what === 'receives SIGTERM') stopping.add(process);
      if (what !== 'has ended' || stopping.has(process)) return undefined;
      const renewedAt = model.renewals.get(process);
      // The Lease cannot be lost while it is renewed in time and all responses arrive. After a lost response, the next attempt gets a conflict.
      const isRenewed = renewedAt !== undefined && at - renewedAt < electionSettings(true).retryPeriodMs;
      const mayBeLost = renewedAt !== undefined && (!isRenewed || at < model.hamperedUntil());
      return mayBeLost ? undefined : `process ${process} ended by itself`;
    };
  },
};

/** A process that ends releases everything, and nothing is left when all have stopped. */
export const leaks: Invariant = {
  name: 'nothing leaks',
  begin: (model) => {
    /** Processes that are stopping, and whether they were suspended meanwhile: the time for a stop is limited. */
    const stopping = new Map<ProcessName, boolean>();
    return (event) => {
      if (event.kind === 'over') {
        const [left, count] = Object.entries(event.leftovers).find(([, number]) => number > 0) ?? [];
        return left === undefined ? undefined : `${String(count)} ${left} are left`;
      }
      if (event.kind !== 'process') return undefined;
      const { process, what, held = 0, at } = event;
      if (what === 'receives SIGTERM') stopping.set(process, false);
      if (what === 'goes on' && stopping.has(process)) stopping.set(process, true);
      // It does not wait for servers that do not respond.
      const isFaulty = model.plan.faults.some((fault) => fault.at <= at && at <= fault.at + fault.forMs);
      if (held === 0 || isFaulty || stopping.get(process) === true) return undefined;
      return `process ${process} ended with ${String(held)} timers and requests`;
    };
  },
};

/** Returns the number of watches of a process without shoots or weedings. */
const watchesOf = ({ component, outside }: Plan): number =>
  component === 'weeder' ? 1 : outside === undefined ? 7 : 8;

/**
 * A process holds nothing per shoot after the shoots are deleted, and nothing per weeding after the weedings are over: only its watches, a timeout
 * for the silence of each, and the renewal of the Lease with its deadline.
 */
export const atRest: Invariant = {
  name: 'nothing held at rest',
  begin:
    ({ plan }) =>
    (event) => {
      if (event.kind !== 'at rest') return undefined;
      const { process, held } = event;
      const watches = watchesOf(plan);
      const timers = watches + (plan.elected ? 2 : 0);
      if (held.timers > timers) return `process ${process} holds ${String(held.timers)} timers`;
      if (held.requests > watches) return `process ${process} holds ${String(held.requests)} requests`;
      const [remembered] = held.remembered;
      return remembered === undefined ? undefined : `metrics of process ${process} still mention ${remembered}`;
    },
};
