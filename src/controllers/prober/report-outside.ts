import type { Logger } from '../../ports/index.ts';
import type { ProberMetrics } from './metrics.ts';
import type { OutsidePath, TryResult } from './outside-path.ts';
import type { PathState } from './verdict.ts';

export interface EndedPathTry {
  readonly result: TryResult;
  readonly before: OutsidePath;
  readonly path: OutsidePath;
}

export interface OutsideReport {
  pathTried(namespace: string, ended: EndedPathTry): void;
  /** As it counts. */
  pathState(namespace: string, state: PathState): void;
  /** The path is no longer tried. */
  pathGone(namespace: string): void;
  /** More than half of the seed's paths say so, or no longer. */
  pathFaultIsOurs(isOurs: boolean): void;
  /** An exception nobody foresaw. */
  broke(namespace: string, error: unknown): void;
}

const states: readonly PathState[] = ['whole', 'broken', 'unknown'];

export const createOutsideReport = (deps: {
  readonly logger: Logger;
  readonly metrics: ProberMetrics;
}): Omit<OutsideReport, 'broke'> => {
  const { logger, metrics } = deps;
  /** Latest reason why a path cannot be judged. */
  const complaints = new Map<string, string>();
  let isOurs = false;

  const complaintOf = ({ result }: EndedPathTry): string | undefined =>
    result.kind === 'unusable' ? result.problem : undefined;

  const tellState = (namespace: string, ended: EndedPathTry): void => {
    const { state, reason, failures } = ended.path;
    const fields = { namespace, state, reason };
    const complaint = complaintOf(ended);
    const isNews = ended.before.state !== state || complaint !== complaints.get(namespace);
    if (complaint === undefined) complaints.delete(namespace);
    else complaints.set(namespace, complaint);
    if (!isNews) logger.debug('outside path tried', { ...fields, result: ended.result.kind, failures });
    // One warning is enough for a fault of ours.
    else if (isOurs) logger.debug('outside path', fields);
    else if (complaint !== undefined) logger.warn('outside path cannot be judged', fields);
    else if (state === 'broken') logger.warn('outside path', fields);
    else logger.info('outside path', fields);
  };

  return {
    pathTried: (namespace, ended) => {
      metrics.pathTries.inc({ namespace, result: ended.result.kind });
      tellState(namespace, ended);
    },
    pathState: (namespace, current) => {
      for (const state of states) metrics.pathState.set(state === current ? 1 : 0, { namespace, state });
    },
    pathGone: (namespace) => {
      complaints.delete(namespace);
      metrics.pathState.remove({ namespace });
    },
    pathFaultIsOurs: (now) => {
      metrics.pathFaultIsOurs.set(now ? 1 : 0);
      if (now === isOurs) return;
      isOurs = now;
      if (now) {
        logger.warn('most outside paths are broken while leases renew: the fault is ours, none of them counts');
      } else logger.info('most outside paths are no longer broken while leases renew: they count again');
    },
  };
};
