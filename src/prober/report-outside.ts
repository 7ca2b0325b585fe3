import type { Logger } from '../ports/logger.ts';
import type { AttemptResult, ExternalProbeHistory } from './judge/outside-path.ts';
import type { Reachability } from './judge/verdict.ts';
import type { ProberMetrics } from './metrics.ts';

export interface EndedExternalAttempt {
  readonly result: AttemptResult;
  readonly before: ExternalProbeHistory;
  readonly history: ExternalProbeHistory;
}

export interface ExternalProbeReport {
  externalProbeAttempted(namespace: string, ended: EndedExternalAttempt): void;
  /** As it counts. */
  externalProbeState(namespace: string, state: Reachability): void;
  /** The path is no longer tried. */
  externalProbeStopped(namespace: string): void;
  /** More than half of the seed's paths say so, or no longer. */
  externalFaultIsOurs(isOurs: boolean): void;
  /** An exception nobody foresaw. */
  broke(namespace: string, error: unknown): void;
}

/** As log and metrics have always called them. */
const labels = { reachable: 'whole', unreachable: 'broken', unknown: 'unknown' } as const satisfies Record<
  Reachability,
  string
>;

export const createExternalProbeReport = (deps: {
  readonly logger: Logger;
  readonly metrics: ProberMetrics;
}): Omit<ExternalProbeReport, 'broke'> => {
  const { logger, metrics } = deps;
  /** Latest reason why a path cannot be judged. */
  const complaints = new Map<string, string>();
  let isOurs = false;

  const complaintOf = ({ result }: EndedExternalAttempt): string | undefined =>
    result.kind === 'unusable' ? result.problem : undefined;

  const tellState = (namespace: string, ended: EndedExternalAttempt): void => {
    const { state, reason, failures } = ended.history;
    const fields = { namespace, state: labels[state], reason };
    const complaint = complaintOf(ended);
    const isNews = ended.before.state !== state || complaint !== complaints.get(namespace);
    if (complaint === undefined) complaints.delete(namespace);
    else complaints.set(namespace, complaint);
    if (!isNews) logger.debug('outside path tried', { ...fields, result: ended.result.kind, failures });
    // One warning is enough for a fault of ours.
    else if (isOurs) logger.debug('outside path', fields);
    else if (complaint !== undefined) logger.warn('outside path cannot be judged', fields);
    else if (state === 'unreachable') logger.warn('outside path', fields);
    else logger.info('outside path', fields);
  };

  return {
    externalProbeAttempted: (namespace, ended) => {
      metrics.externalAttempts.inc({ namespace, result: ended.result.kind });
      tellState(namespace, ended);
    },
    externalProbeState: (namespace, current) => {
      for (const state of Object.values(labels)) {
        metrics.externalProbeState.set(state === labels[current] ? 1 : 0, { namespace, state });
      }
    },
    externalProbeStopped: (namespace) => {
      complaints.delete(namespace);
      metrics.externalProbeState.remove({ namespace });
    },
    externalFaultIsOurs: (now) => {
      metrics.externalFaultIsOurs.set(now ? 1 : 0);
      if (now === isOurs) return;
      isOurs = now;
      if (now) {
        logger.warn('most outside paths are broken while leases renew: the fault is ours, none of them counts');
      } else logger.info('most outside paths are no longer broken while leases renew: they count again');
    },
  };
};
