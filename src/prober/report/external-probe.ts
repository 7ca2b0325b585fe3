import type { Logger } from '../../ports/logger.ts';
import type { AttemptResult, ExternalProbeHistory, Reachability } from '../judge/external-probe.ts';
import type { ProberMetrics } from '../metrics.ts';

export interface EndedExternalAttempt {
  readonly result: AttemptResult;
  readonly before: ExternalProbeHistory;
  readonly history: ExternalProbeHistory;
}

export interface ExternalProbeReport {
  externalProbeAttempted(namespace: string, ended: EndedExternalAttempt): void;
  externalProbeState(namespace: string, state: Reachability): void;
  /** Called when the address is no longer probed. */
  externalProbeStopped(namespace: string): void;
  /** Reports an unexpected exception. */
  unexpectedError(namespace: string, error: unknown): void;
}

const states: readonly Reachability[] = ['reachable', 'unreachable', 'unknown'];

export class ExternalProbeReporter {
  readonly #deps: { readonly logger: Logger; readonly metrics: ProberMetrics };
  /** Latest reason why an external probe cannot be judged, by namespace. */
  readonly #complaints = new Map<string, string>();

  constructor(deps: { readonly logger: Logger; readonly metrics: ProberMetrics }) {
    this.#deps = deps;
  }

  attempted(namespace: string, ended: EndedExternalAttempt): void {
    this.#deps.metrics.externalAttempts.inc({ namespace, result: ended.result.kind });
    this.#logState(namespace, ended);
  }

  state(namespace: string, current: Reachability): void {
    for (const state of states) {
      this.#deps.metrics.externalProbeState.set(state === current ? 1 : 0, { namespace, state });
    }
  }

  stopped(namespace: string): void {
    this.#complaints.delete(namespace);
    this.#deps.metrics.externalProbeState.remove({ namespace });
  }

  #logState(namespace: string, { result, before, history }: EndedExternalAttempt): void {
    const { logger } = this.#deps;
    const { state, reason, failures } = history;
    const fields = { namespace, state, reason };
    const complaint = result.kind === 'unusable' ? result.problem : undefined;
    const isNews = before.state !== state || complaint !== this.#complaints.get(namespace);
    if (complaint === undefined) this.#complaints.delete(namespace);
    else this.#complaints.set(namespace, complaint);
    if (!isNews) logger.debug('external probe', { ...fields, result: result.kind, failures });
    else if (complaint !== undefined) logger.warn('the external probe cannot be made', fields);
    else if (state === 'unreachable') logger.warn('external probe', fields);
    else logger.info('external probe', fields);
  }
}
