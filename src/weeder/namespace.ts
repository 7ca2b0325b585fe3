import type { EndpointSliceView } from '../kubernetes/api/endpoint-slice.ts';
import type { StoreChange } from '../kubernetes/cache/index.ts';
import type { Clock } from '../ports/clock.ts';
import { type WeederActDeps, act } from './act.ts';
import type { DependentPod, Weeding, WeederEvent } from './events.ts';
import { type Owners, isForgotten, judgePods, recordOutcome } from './judge/pods.ts';
import { type ReadyService, isReady, judgeService } from './judge/service.ts';

/** State of one namespace, which outlives a change of the configuration. */
export interface NamespaceState {
  /** Services that are ready, by name. */
  readonly services: ReadonlyMap<string, ReadyService>;
  readonly owners: Owners;
}

export interface NamespaceWeederDeps extends WeederActDeps {
  readonly clock: Clock;
  readonly namespace: string;
  readonly watchDurationMs: number;
  readonly report: (event: WeederEvent) => void;
  /** Returns the EndpointSlices of the namespace, from their watch. */
  readonly slices: () => readonly EndpointSliceView[];
  /** Returns the pods that depend on these weedings, from their watches. */
  readonly podsOf: (weedings: readonly Weeding[]) => readonly DependentPod[];
  /** Called when a weeding has started or ended. */
  readonly onWeedings: () => void;
}

/** Weeds one namespace: starts and ends the weedings of its services, and deletes the crash-looping pods that depend on them. */
export class NamespaceWeeder {
  readonly #deps: NamespaceWeederDeps;
  readonly #services: Map<string, ReadyService>;
  /** Deletes that have started and not ended. */
  readonly #inFlight = new Set<Promise<void>>();
  #owners: Owners;
  #cancelTimer = (): void => undefined;
  #isScheduled = false;

  constructor(deps: NamespaceWeederDeps, before?: NamespaceState) {
    this.#deps = deps;
    this.#services = new Map(before?.services);
    this.#owners = before?.owners ?? new Map();
  }

  get state(): NamespaceState {
    return { services: this.#services, owners: this.#owners };
  }

  /** Running weedings. One whose time is over is none: after a suspension of the process, pod events may arrive before the timer. */
  get weedings(): readonly Weeding[] {
    const now = this.#deps.clock.monotonic();
    return [...this.#services.values()].flatMap(({ weeding }) =>
      weeding !== undefined && weeding.endsAt > now ? [weeding] : [],
    );
  }

  /** True if nothing is left to remember about the namespace. */
  get isIdle(): boolean {
    const now = this.#deps.clock.monotonic();
    return this.#deps.slices().length === 0 && [...this.#owners.values()].every((owner) => isForgotten(owner, now));
  }

  /** Judges all services by the first list. */
  start(): void {
    const listed = this.#deps.slices().map(({ service }) => service);
    for (const service of new Set([...this.#services.keys(), ...listed])) {
      this.#judge(service, isReady(this.#slicesOf(service)));
    }
    this.wake();
  }

  /** Applies a change of a slice. */
  observe({ type, value, isListed }: StoreChange<EndpointSliceView>): void {
    const { service } = value;
    const slices = this.#slicesOf(service);
    // A mirrored slice that is left counts again once it is written.
    const counted = type === 'set' || value.mirrored ? slices : slices.filter(({ mirrored }) => !mirrored);
    // A slice that has changed while nobody looked may have been unready meanwhile.
    if (isListed === true) this.#judge(service, false);
    this.#judge(service, isReady(counted));
    this.wake();
  }

  /** Schedules a step; call it when pods have changed. It runs in a microtask, so that simultaneous changes are handled together. */
  wake(): void {
    if (this.#isScheduled || this.#deps.signal.aborted) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#deps.signal.aborted) return;
      try {
        this.#step();
      } catch (error) {
        this.#foundBug(error);
      }
    });
  }

  /** Call it when `signal` has aborted: services are still judged then, for the successor. Resolves when all deletes in flight have ended. */
  async whenStopped(): Promise<void> {
    this.#cancelTimer();
    await Promise.all(this.#inFlight);
  }

  #slicesOf(service: string): readonly EndpointSliceView[] {
    return this.#deps.slices().filter((slice) => slice.service === service);
  }

  #judge(service: string, ready: boolean): void {
    const { clock, report, onWeedings } = this.#deps;
    const observed = { ...this.#deps, service, ready, now: clock.monotonic() };
    const { after, events } = judgeService(this.#services.get(service), observed);
    if (after === undefined) this.#services.delete(service);
    else this.#services.set(service, after);
    for (const event of events) report(event);
    if (events.length > 0) onWeedings();
  }

  #step(): void {
    const { clock, report, podsOf } = this.#deps;
    for (const service of this.#services.keys()) this.#judge(service, true);
    const { weedings } = this;
    const now = clock.monotonic();
    const { deletions, events, owners, nextAt } = judgePods(podsOf(weedings), this.#owners, now);
    this.#owners = owners;
    for (const event of events) report(event);
    for (const dependent of deletions) this.#start(dependent);
    this.#cancelTimer();
    const at = Math.min(nextAt, ...weedings.map(({ endsAt }) => endsAt));
    if (Number.isFinite(at)) this.#cancelTimer = clock.timer(at - now, () => this.wake());
  }

  #start(dependent: DependentPod): void {
    const ended = this.#delete(dependent)
      .catch((error: unknown) => this.#foundBug(error))
      .finally(() => {
        this.#inFlight.delete(ended);
        this.wake();
      });
    this.#inFlight.add(ended);
  }

  #foundBug(error: unknown): void {
    const { namespace, report } = this.#deps;
    report({ type: 'unexpected-error', namespace, error });
  }

  async #delete({ pod, weeding }: DependentPod): Promise<void> {
    const isWanted = (): boolean => this.weedings.includes(weeding);
    const outcome = await act(this.#deps, pod, isWanted);
    this.#owners = recordOutcome(this.#owners, pod, outcome, this.#deps.clock.monotonic());
    this.#deps.report({ type: 'delete-ended', pod, weeding, outcome });
  }
}
