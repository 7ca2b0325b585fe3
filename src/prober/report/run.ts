import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { EventRecorder } from '../../telemetry/index.ts';
import { type Downtime, type Verdict, verdictNameOf } from '../judge/verdict.ts';
import type { HeldGauges } from './held-gauges.ts';
import type { ProberMetrics } from '../metrics.ts';
import { namespaceRef } from '../ref-template.ts';
import type { ProbeResult } from '../probe.ts';

export interface EndedRun {
  readonly result: ProbeResult;
  readonly previous: Verdict | undefined;
  /** Number of resources that have the mark of meltdown protection. */
  readonly held: number;
  /** Time since when resources are held, by their notes, in milliseconds since the epoch. */
  readonly heldSince?: number | undefined;
  /** Keys of the required resources that do not exist. */
  readonly missing: readonly string[];
  /** Number of resources that `ignore-scaling` keeps from being scaled down. */
  readonly ignored?: number;
  /** True while a resource is up that a scale-down would scale down, and none is held. */
  readonly isUnprotected: () => boolean;
}

const warnSkewMs = 5_000;

/** Returns the kind of a failure. Messages differ from run to run (a timeout includes its duration), but operators want to see the same failure once. */
const failureOf = (verdict: Verdict): string => {
  if (verdict.kind !== 'failed') return '';
  const { failure, error } = verdict;
  return `${failure}/${'code' in error ? error.code : error.field}`;
};

/** True if two verdicts are the same to the operator. */
const sameVerdict = (a: Verdict | undefined, b: Verdict): boolean =>
  a?.kind === b.kind && failureOf(a) === failureOf(b);

/** Shoots for which a message was logged that is logged only once. */
interface Once {
  /** Shoots whose API server's clock differs too much from ours. */
  readonly skewed: Set<string>;
  readonly flapping: Set<string>;
  /** Required resources that are missing, by shoot. */
  readonly missing: Map<string, ReadonlySet<string>>;
}

export interface RunReporterDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** True if this process leads; false in a standby. */
  readonly leads: () => boolean;
  /** Records an Event, unless another process has to. */
  readonly recordEvent: EventRecorder['record'];
  readonly metrics: ProberMetrics;
  readonly held: HeldGauges;
}

/** Reports probe runs to log, metrics and Events. */
export class RunReporter {
  readonly #clock: Clock;
  readonly #held: HeldGauges;
  readonly #logger: Logger;
  readonly #metrics: ProberMetrics;
  readonly #recordEvent: EventRecorder['record'];
  readonly #leads: () => boolean;
  readonly #once: Once = { skewed: new Set(), flapping: new Set(), missing: new Map() };

  constructor({ clock, logger, recordEvent, leads, metrics, held }: RunReporterDeps) {
    this.#clock = clock;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#held = held;
    this.#leads = leads;
    this.#recordEvent = recordEvent;
  }

  ended(namespace: string, { result, previous, held, heldSince, missing, ignored = 0 }: EndedRun): void {
    const metrics = this.#metrics;
    const { decision, durationMs, skewMs } = result;
    const { verdict, reason, counts } = decision;
    metrics.runs.inc({ namespace, result: verdictNameOf(verdict) });
    metrics.runSeconds.observe(durationMs / 1_000);
    metrics.lastRun.set(this.#clock.now() / 1_000, { namespace });
    this.#held.show(namespace, { held, since: heldSince });
    this.#missing(namespace, missing);
    metrics.ignored.set(ignored, { namespace });
    this.#flapping(namespace, decision.memory.outage?.isFlapping === true);
    if (counts !== undefined) {
      metrics.candidates.set(counts.candidates, { namespace });
      metrics.expired.set(counts.expired, { namespace });
    }
    if (skewMs !== undefined) this.#skew(namespace, skewMs);
    if (decision.downtime !== undefined) this.#downtime(namespace, decision.downtime);
    const role = this.#leads() ? {} : { standby: true };
    const fields = { namespace, verdict: verdictNameOf(verdict), reason, ...counts, ...role };
    if (sameVerdict(previous, verdict)) this.#logger.debug('probe run', fields);
    else if (verdict.kind === 'failed') this.#logger.error('probe failed: nothing is scaled', fields);
    else this.#logger.info('verdict', fields);
  }

  forget(namespace: string): void {
    const { skewed, flapping, missing } = this.#once;
    for (const known of [skewed, flapping, missing]) known.delete(namespace);
  }

  /** Logs a required resource when it is found missing, and when it exists again. */
  #missing(namespace: string, missing: readonly string[]): void {
    const known = this.#once.missing.get(namespace) ?? new Set();
    const now = new Set(missing);
    this.#metrics.missing.set(now.size, { namespace });
    for (const resource of now) {
      if (known.has(resource)) continue;
      const message = 'a required resource is missing: it cannot be scaled down in an outage';
      this.#logger.error(message, { namespace, resource });
    }
    for (const resource of known) {
      if (!now.has(resource)) this.#logger.info('a missing resource is there', { namespace, resource });
    }
    if (now.size > 0) this.#once.missing.set(namespace, now);
    else this.#once.missing.delete(namespace);
  }

  #flapping(namespace: string, isFlapping: boolean): void {
    const { flapping } = this.#once;
    this.#metrics.flapping.set(isFlapping ? 1 : 0, { namespace });
    if (!isFlapping) flapping.delete(namespace);
    if (!isFlapping || flapping.has(namespace)) return;
    flapping.add(namespace);
    const message = 'flapping: an outage came within ten minutes of the restoration, so the next one waits for longer';
    this.#logger.warn(message, { namespace });
    const regarding = namespaceRef(namespace);
    this.#recordEvent({ regarding, type: 'Warning', reason: 'MeltdownProtectionFlapping', message });
  }

  #skew(namespace: string, skewMs: number): void {
    const { skewed } = this.#once;
    this.#metrics.skew.set(skewMs / 1_000, { namespace });
    if (Math.abs(skewMs) <= warnSkewMs) skewed.delete(namespace);
    else if (!skewed.has(namespace)) {
      skewed.add(namespace);
      const seconds = Math.round(skewMs / 1_000);
      this.#logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
    }
  }

  #downtime(namespace: string, { ms }: Downtime): void {
    this.#metrics.downtimes.inc({ namespace });
    const seconds = Math.round(ms / 1_000);
    this.#logger.info('the API server failed until now: silence counts from here', { namespace, seconds });
  }
}
