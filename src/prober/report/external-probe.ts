import type { Logger } from '../../ports/logger.ts';
import type { AttemptResult, ExternalProbeHistory } from '../judge/external-probe-history.ts';
import type { Reachability } from '../judge/probe-input.ts';
import type { ProberMetrics } from '../metrics.ts';

export interface EndedExternalAttempt {
  readonly result: AttemptResult;
  readonly before: ExternalProbeHistory;
  readonly history: ExternalProbeHistory;
}

export interface ExternalProbeReport {
  externalProbeAttempted(namespace: string, ended: EndedExternalAttempt): void;
  /** Called with the state that counts in verdicts. */
  externalProbeState(namespace: string, state: Reachability): void;
  /** Called when the address is no longer probed. */
  externalProbeStopped(namespace: string): void;
  /** Called with true if most of the seed's addresses are unreachable while leases renew, so that the fault is ours; with false if not. */
  externalFaultIsOurs(isOurs: boolean): void;
  /** Reports an unexpected exception. */
  unexpectedError(namespace: string, error: unknown): void;
}

/** Labels of the states. Log and metrics keep the names that they have always had. */
const labels = { reachable: 'whole', unreachable: 'broken', unknown: 'unknown' } as const satisfies Record<
  Reachability,
  string
>;

export class ExternalProbeReporter {
  readonly #deps: { readonly logger: Logger; readonly metrics: ProberMetrics };
  /** Latest reason why an external probe cannot be judged, by namespace. */
  readonly #complaints = new Map<string, string>();
  #isOurs = false;

  constructor(deps: { readonly logger: Logger; readonly metrics: ProberMetrics }) {
    this.#deps = deps;
  }

  attempted(namespace: string, ended: EndedExternalAttempt): void {
    this.#deps.metrics.externalAttempts.inc({ namespace, result: ended.result.kind });
    this.#logState(namespace, ended);
  }

  state(namespace: string, current: Reachability): void {
    for (const state of Object.values(labels)) {
      this.#deps.metrics.externalProbeState.set(state === labels[current] ? 1 : 0, { namespace, state });
    }
  }

  stopped(namespace: string): void {
    this.#complaints.delete(namespace);
    this.#deps.metrics.externalProbeState.remove({ namespace });
  }

  faultIsOurs(isOurs: boolean): void {
    const { logger, metrics } = this.#deps;
    metrics.externalFaultIsOurs.set(isOurs ? 1 : 0);
    if (isOurs === this.#isOurs) return;
    this.#isOurs = isOurs;
    if (isOurs) {
      logger.warn('most outside paths are broken while leases renew: the fault is ours, none of them counts');
    } else logger.info('most outside paths are no longer broken while leases renew: they count again');
  }

  #logState(namespace: string, { result, before, history }: EndedExternalAttempt): void {
    const { logger } = this.#deps;
    const { state, reason, failures } = history;
    const fields = { namespace, state: labels[state], reason };
    const complaint = result.kind === 'unusable' ? result.problem : undefined;
    const isNews = before.state !== state || complaint !== this.#complaints.get(namespace);
    if (complaint === undefined) this.#complaints.delete(namespace);
    else this.#complaints.set(namespace, complaint);
    if (!isNews) logger.debug('outside path tried', { ...fields, result: result.kind, failures });
    // One warning is enough for a fault of ours.
    else if (this.#isOurs) logger.debug('outside path', fields);
    else if (complaint !== undefined) logger.warn('outside path cannot be judged', fields);
    else if (state === 'unreachable') logger.warn('outside path', fields);
    else logger.info('outside path', fields);
  }
}
