import type { Clock } from '../ports/clock.ts';
import { type WeederActDeps, type DeleteResult, act } from './act.ts';
import { type DependentPod, decide } from './judge/decide.ts';
import { emptyNamespaceState, type NamespaceState, recordOutcome } from './judge/namespace-state.ts';
import type { Weeding } from './judge/weedings.ts';
import type { PodReport, WeederReport } from './report.ts';

export interface NamespaceWeederDeps extends WeederActDeps {
  readonly clock: Clock;
  readonly report: WeederReport;
}

export interface NamespaceWeederOptions {
  readonly namespace: string;
  /** State of the weeder under the previous configuration, if there was one. */
  readonly state: NamespaceState | undefined;
  /** Returns the running weedings, by service. */
  readonly weedings: () => ReadonlyMap<string, Weeding>;
  /** Returns the dependent pods of these weedings, from their watches. */
  readonly pods: () => readonly DependentPod[];
}

/** A delete that has started and not ended. */
interface Deletion {
  readonly dependent: DependentPod;
  readonly cancel: AbortController;
  readonly ended: Promise<void>;
}

/** Deletes the crash-looping pods of one namespace, for all of its weedings. */
export class NamespaceWeeder {
  readonly #deps: NamespaceWeederDeps;
  readonly #options: NamespaceWeederOptions;
  readonly #inFlight = new Set<Deletion>();
  #state: NamespaceState;
  #cancelTimer = (): void => undefined;
  #isScheduled = false;
  #isStopped = false;

  constructor(deps: NamespaceWeederDeps, options: NamespaceWeederOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#state = options.state ?? emptyNamespaceState;
  }

  get state(): NamespaceState {
    return this.#state;
  }

  /** True if no delete is in flight and no back-off of an owner must be kept. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0 && this.#state.owners.size === 0;
  }

  /** Schedules a reconciliation; call it when pods or weedings have changed. It runs in a microtask, so that simultaneous changes are handled together. */
  wake(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#isStopped) return;
      try {
        this.#reconcile();
      } catch (error) {
        this.#deps.report.unexpectedError(this.#options.namespace, error);
      }
    });
  }

  /** Stops new deletes. Resolves when all deletes in flight have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    for (const { cancel } of this.#inFlight) cancel.abort(new Error('the weeder is stopping'));
    await Promise.all(Array.from(this.#inFlight, ({ ended }) => ended));
  }

  #reconcile(): void {
    const { clock, report } = this.#deps;
    this.#cancelUnwanted();
    const now = clock.monotonic();
    const decision = decide(this.#options.pods(), { state: this.#state, now });
    this.#state = decision.state;
    for (const { dependent, error } of decision.refused) {
      this.#report(dependent, (about) => report.deleteFailed({ ...about, error }));
    }
    for (const { dependent, why } of decision.leftAlone) {
      this.#report(dependent, (about) => report.podLeftAlone({ ...about, why }));
    }
    for (const dependent of decision.deletions) this.#start(dependent);
    this.#cancelTimer();
    if (!Number.isFinite(decision.nextDecisionAt)) return;
    this.#cancelTimer = clock.timer(decision.nextDecisionAt - now, () => this.wake());
  }

  /** Cancels deletes whose weeding has ended, unless they are already sent. */
  #cancelUnwanted(): void {
    for (const { cancel, dependent } of this.#inFlight) {
      if (this.#weedingOf(dependent) === undefined) cancel.abort(new Error('the weeding has ended'));
    }
  }

  /** Returns the running weeding that matches the pod; if several do, the one whose service became ready last. */
  #weedingOf({ services }: DependentPod): Weeding | undefined {
    const weedings = this.#options.weedings();
    const matching = services.flatMap((service) => weedings.get(service) ?? []);
    return matching.toSorted((a, b) => b.readyAt - a.readyAt)[0];
  }

  #report(dependent: DependentPod, report: (about: PodReport) => void): void {
    const weeding = this.#weedingOf(dependent);
    if (weeding !== undefined) report({ pod: dependent.pod, weeding, now: this.#deps.clock.monotonic() });
  }

  #start(dependent: DependentPod): void {
    const cancel = new AbortController();
    const ended = this.#delete(dependent, cancel.signal).finally(() => {
      this.#inFlight.delete(deletion);
      this.wake();
    });
    const deletion = { dependent, cancel, ended };
    this.#inFlight.add(deletion);
  }

  /** Never rejects. */
  async #delete(dependent: DependentPod, signal: AbortSignal): Promise<void> {
    const { clock, report } = this.#deps;
    const { pod } = dependent;
    // The response may arrive after the end of the weeding, and still counts for it.
    const weeding = this.#weedingOf(dependent);
    const isWanted = (): boolean => this.#weedingOf(dependent) !== undefined;
    try {
      const result = await act(this.#deps, { pod, signal, isWanted });
      const now = clock.monotonic();
      this.#state = recordOutcome(this.#state, { pod, outcome: result.outcome }, now);
      if (weeding !== undefined) reportResult(report, { pod, weeding, now }, result);
    } catch (error) {
      const outcome = { kind: 'failed', retryAfterMs: 0, mayHaveTakenEffect: true } as const;
      this.#state = recordOutcome(this.#state, { pod, outcome }, clock.monotonic());
      report.unexpectedError(pod.namespace, error);
    }
  }
}

const reportResult = (report: WeederReport, about: PodReport, { outcome, error }: DeleteResult): void => {
  switch (outcome.kind) {
    case 'deleted':
      report.podDeleted(about);
      break;
    case 'gone':
    case 'changed':
      report.podSkipped({ ...about, why: outcome.kind });
      break;
    case 'unsent':
      break;
    case 'failed':
      if (error !== undefined) report.deleteFailed({ ...about, error });
      break;
  }
};
