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
  /** State of the weeder before, after a change of the configuration. */
  readonly state: NamespaceState | undefined;
  /** Weedings that run now, by service. */
  readonly weedings: () => ReadonlyMap<string, Weeding>;
  /** Pods that their watches show. */
  readonly pods: () => readonly DependentPod[];
}

/** A delete that was started and has not ended. */
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

  /** True when there is nothing to keep and nothing to wait for. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0 && this.#state.owners.size === 0;
  }

  /** To be called when pods or weedings have changed. Runs after the caller, so that changes of one moment count together. */
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

  /** Sends nothing new. Resolves when all that was sent is answered. */
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
    for (const orphan of decision.orphans) this.#report(orphan, (about) => report.orphanSkipped(about));
    for (const dependent of decision.deletions) this.#start(dependent);
    this.#cancelTimer();
    if (!Number.isFinite(decision.nextDecisionAt)) return;
    this.#cancelTimer = clock.timer(decision.nextDecisionAt - now, () => this.wake());
  }

  /** Ends deletes whose weeding has ended, unless they were sent already. */
  #cancelUnwanted(): void {
    for (const { cancel, dependent } of this.#inFlight) {
      if (this.#weedingOf(dependent) === undefined) cancel.abort(new Error('the weeding has ended'));
    }
  }

  /** Of the weedings that match the pod, the one whose service became ready last. */
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
    // The answer may come after the weeding has ended, and counts for it all the same.
    const weeding = this.#weedingOf(dependent);
    const isWanted = (): boolean => this.#weedingOf(dependent) !== undefined;
    try {
      const result = await act(this.#deps, { pod, signal, isWanted });
      const now = clock.monotonic();
      this.#state = recordOutcome(this.#state, { pod, outcome: result.outcome }, now);
      if (weeding !== undefined) reportResult(report, { pod, weeding, now }, result);
    } catch (error) {
      const outcome = { kind: 'failed', retryAfterMs: 0, mayHaveLanded: true } as const;
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
