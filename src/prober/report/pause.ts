import { describePause } from '../../annotations/pause.ts';
import type { FoundPause } from '../../annotations/pause.ts';
import type { Logger } from '../../ports/logger.ts';
import type { EventRecorder } from '../../telemetry/index.ts';
import type { ProberMetrics } from '../metrics.ts';
import { namespaceRef } from '../ref-template.ts';
import type { PauseChange } from '../pauses.ts';

export interface PauseReport {
  pauseChanged(change: PauseChange): void;
  /** Called with true if any pause applies to the shoot. */
  paused(namespace: string, isPaused: boolean): void;
  /** Called when a pause prevents the scale-down that a verdict requires. */
  preventedByPause(namespace: string, why: { readonly pause: FoundPause; readonly reason: string }): void;
}

export interface PauseReportDeps {
  readonly logger: Logger;
  readonly metrics: ProberMetrics;
  /** Records an Event, unless another process has to. */
  readonly recordEvent: EventRecorder['record'];
  /** Namespace of the prober. */
  readonly ownNamespace: string;
}

/** Reports pauses to log, metrics and Events. */
export class PauseReporter implements PauseReport {
  readonly #deps: PauseReportDeps;

  constructor(deps: PauseReportDeps) {
    this.#deps = deps;
  }

  pauseChanged({ scope, pause, isFound }: PauseChange): void {
    const { logger, ownNamespace } = this.#deps;
    const namespace = scope === 'all' ? ownNamespace : scope.namespace;
    const whose = scope === 'all' ? 'all shoots are' : 'the shoot is';
    const fields = scope === 'all' ? {} : { namespace };
    if (pause?.problem !== undefined) {
      logger.error('a pause cannot be read: it holds for an hour', { namespace, problem: pause.problem });
    }
    if (pause === undefined) {
      const met = 'an outage is met again, but not on resources with ignore-scaling';
      logger.warn(`the pause is over: ${met}`, fields);
      const message = `The pause of meltdown protection is over: ${met}.`;
      this.#record(namespace, { type: 'Normal', reason: 'MeltdownProtectionResumed', message });
      return;
    }
    const words = describePause(pause);
    logger.warn(`${whose} paused: nothing is scaled down`, { ...fields, pause: words });
    // Another process has recorded the start of the pause, or no process could.
    if (isFound) return;
    const message = `Meltdown protection is paused, ${whose} not scaled down ${words}`;
    this.#record(namespace, { type: 'Warning', reason: 'MeltdownProtectionPaused', message });
  }

  paused(namespace: string, isPaused: boolean): void {
    this.#deps.metrics.paused.set(isPaused ? 1 : 0, { namespace });
  }

  preventedByPause(
    namespace: string,
    { pause, reason }: { readonly pause: FoundPause; readonly reason: string },
  ): void {
    const words = describePause(pause);
    this.#deps.logger.warn('not scaled down: a pause holds', { namespace, reason, pause: words });
    const message = `Not scaled down because of a pause, ${words}. The verdict: ${reason}`;
    this.#record(namespace, { type: 'Warning', reason: 'MeltdownProtectionHeldBack', message });
  }

  #record(namespace: string, event: Omit<Parameters<EventRecorder['record']>[0], 'regarding'>): void {
    const regarding = namespaceRef(namespace);
    this.#deps.recordEvent({ regarding, ...event });
  }
}
