import { ignoreScalingAnnotation } from '../../annotations/scaling-annotations.ts';
import { shorten } from '../../kubernetes/api/shorten.ts';
import type { Logger } from '../../ports/logger.ts';
import type { EventRecorder } from '../../telemetry/index.ts';
import type { HeldGauges } from './held-gauges.ts';
import type { ProberMetrics } from '../metrics.ts';
import { type RefTemplate, namespaceRef } from '../ref-template.ts';
import type { Scaling as Flow, ScalingEnd as FlowEnd } from '../plan/scaling.ts';
import { effectOf, unknownManager } from '../plan/patch-plan.ts';
import { type Action, type Operation, type ActionResponse, maxAttempts } from '../plan/operation.ts';

/** The instants of a scale-down verdict, in monotonic milliseconds: when the threshold was crossed, and when KCM would act. */
export interface GraceDeadline {
  readonly crossedAt: number;
  readonly graceEndsAt: number;
}

/** A response to the one request of an action. */
export interface ReceivedResponse {
  readonly flow: Flow;
  readonly action: Action;
  readonly outcome: ActionResponse;
  /** The resource, with the UID that a watch shows. */
  readonly ref?: RefTemplate | undefined;
  readonly uid?: string | undefined;
  readonly now: number;
  readonly graceDeadline?: GraceDeadline | undefined;
}

export interface EndedFlow {
  readonly flow: Flow;
  readonly end: FlowEnd;
  readonly now: number;
  /** Number of resources that have the mark of meltdown protection. */
  readonly held: number;
  /** Time since when resources are held, by their notes, in milliseconds since the epoch. */
  readonly heldSince?: number | undefined;
}

export interface ScalingReport {
  flowStarted(namespace: string, flow: Flow): void;
  responseReceived(namespace: string, answer: ReceivedResponse): void;
  flowEnded(namespace: string, ended: EndedFlow): void;
  forget(namespace: string): void;
}

export interface ScalingReportDeps {
  readonly logger: Logger;
  readonly metrics: ProberMetrics;
  readonly events: EventRecorder;
  /** True if nothing is written. The log then shows would-be writes. */
  readonly dryRun: boolean;
  readonly held: HeldGauges;
}

type WriteAnswer = ReceivedResponse & { readonly action: Extract<Action, { kind: 'write' }> };

const isWrite = (answer: ReceivedResponse): answer is WriteAnswer => answer.action.kind === 'write';

/** True if the operation retries beyond its ordinary attempts. Those were logged; the result of the others is logged when the flow ends. */
const isRetryingOn = ({ flow, action }: ReceivedResponse): boolean =>
  flow.operations.some(({ key, attempts }) => key === action.key && attempts >= maxAttempts);

/** Reports flows to log, metrics and Events. */
export class ScalingReporter implements ScalingReport {
  readonly #deps: ScalingReportDeps;
  /** Latest failure by namespace and resource. */
  readonly #complaints = new Map<string, Map<string, string>>();
  /** Start of the latest scaling that was reported as one without the lead, by namespace. */
  readonly #withoutLead = new Map<string, number>();

  constructor(deps: ScalingReportDeps) {
    this.#deps = deps;
  }

  flowStarted(namespace: string, { direction, scope, reason }: Flow): void {
    this.#deps.logger.debug(`scaling ${direction} starts`, { namespace, scope, reason });
  }

  responseReceived(namespace: string, answer: ReceivedResponse): void {
    const { logger } = this.#deps;
    const { key, result } = answer.outcome;
    const failed = result.ok ? {} : { namespace, resource: key, error: result.error.message };
    // The request is sent again every second. The result is logged when the flow ends.
    if (!result.ok && result.error.rateLimited) logger.debug('held back', failed);
    else if (isWrite(answer)) this.#reportWrite(namespace, answer);
    else if (!result.ok) logger.info('reading failed', failed);
  }

  flowEnded(namespace: string, { flow, end, now, held, heldSince: since }: EndedFlow): void {
    const { logger } = this.#deps;
    this.#deps.held.show(namespace, { held, since });
    for (const operation of flow.operations) this.#reportOperation(namespace, { flow, operation, now });
    logger.debug(`scaling ${flow.direction} ${end}`, { namespace, seconds: (now - flow.startedAt) / 1_000 });
  }

  forget(namespace: string): void {
    this.#complaints.delete(namespace);
    this.#withoutLead.delete(namespace);
  }

  /** Reports the first write of a scale-down that the leader has left undone. */
  #reportWithoutLead(namespace: string, { withoutLead, reason, startedAt }: Flow): void {
    const { logger, metrics, events, dryRun } = this.#deps;
    if (withoutLead === undefined || this.#withoutLead.get(namespace) === startedAt) return;
    this.#withoutLead.set(namespace, startedAt);
    const message = `protecting without the lead: ${withoutLead}`;
    logger.warn(message, { namespace, reason });
    if (dryRun) return;
    metrics.withoutLead.inc({ namespace });
    const regarding = namespaceRef(namespace);
    const about = { regarding, type: 'Warning', reason: 'MeltdownProtectionWithoutLead' } as const;
    events.record({ ...about, message: `${message}; ${reason}` });
  }

  #would(words: string): string {
    return this.#deps.dryRun ? `would have ${words}` : words;
  }

  #reportWrite(namespace: string, answer: WriteAnswer): void {
    const { logger } = this.#deps;
    const { flow, action, outcome } = answer;
    const { base, replicas, annotations = {}, unreadable, undoes } = action.write;
    const effect = effectOf(action.write);
    const change = replicas === undefined ? { annotations } : { from: base.specReplicas, to: replicas };
    const fields = { namespace, resource: outcome.key, reason: flow.reason, ...change };
    if (!outcome.result.ok) {
      const { code, message } = outcome.result.error;
      if (code === 'Rejected') logger.info('not written', { ...fields, why: message });
      else logger[isRetryingOn(answer) ? 'debug' : 'error']('writing failed', { ...fields, error: message });
      return;
    }
    if (unreadable !== undefined) {
      const stored = shorten(unreadable);
      logger.error('the stored number of replicas cannot be read: restoring 1', { ...fields, stored });
    }
    if (effect === 'down') this.#reportWithoutLead(namespace, flow);
    logger.info(this.#would(effect === undefined ? 'annotated' : `scaled ${effect}`), fields);
    if (undoes !== undefined) this.#reportUndone(namespace, { ...answer, undoes });
    if (effect !== undefined) this.#recordEffect(namespace, { ...answer, effect });
    if (effect === 'down') this.#reportMargin(namespace, answer);
  }

  /** Reports the writer whose count was overwritten, and the annotation that keeps the prober off. */
  #reportUndone(namespace: string, answer: WriteAnswer & { readonly undoes: string }): void {
    const { logger, metrics, dryRun } = this.#deps;
    const { flow, action, outcome, undoes } = answer;
    const { specReplicas: replicas } = action.write.base;
    const fields = { namespace, resource: outcome.key, manager: undoes, replicas, reason: flow.reason };
    logger.warn(this.#would("undone another writer's change of replicas"), fields);
    if (!dryRun) metrics.foreignChanges.inc({ namespace, resource: outcome.key, manager: undoes });
    const writer = undoes === unknownManager ? 'another writer' : undoes;
    const change = `Undid ${writer}, who had set replicas to ${String(replicas)}: ${flow.reason}`;
    const message = `${change}. The annotation ${ignoreScalingAnnotation}=true keeps the dependency-watchdog off.`;
    this.#record(namespace, answer, { type: 'Warning', reason: 'MeltdownProtectionForeignChange', message });
  }

  #recordEffect(namespace: string, answer: WriteAnswer & { readonly effect: 'down' | 'up' }): void {
    const { flow, action, effect } = answer;
    const { base, replicas } = action.write;
    const counts = `from ${String(base.specReplicas)} to ${String(replicas)} replicas`;
    this.#record(namespace, answer, {
      type: effect === 'down' ? 'Warning' : 'Normal',
      reason: effect === 'down' ? 'MeltdownProtectionScaledDown' : 'MeltdownProtectionScaledUp',
      message: `Scaled ${effect} ${counts}: ${flow.reason}`,
    });
  }

  #record(
    namespace: string,
    { ref, uid }: ReceivedResponse,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void {
    const { dryRun, events } = this.#deps;
    if (ref === undefined || dryRun) return;
    events.record({ regarding: { namespace, ...ref, ...(uid === undefined ? {} : { uid }) }, ...event });
  }

  #reportMargin(namespace: string, { graceDeadline, now }: ReceivedResponse): void {
    const { metrics } = this.#deps;
    if (graceDeadline === undefined) return;
    metrics.downSeconds.observe((now - graceDeadline.crossedAt) / 1_000);
    metrics.margin.set((graceDeadline.graceEndsAt - now) / 1_000, { namespace });
  }

  #reportOperation(
    namespace: string,
    ended: { readonly flow: Flow; readonly operation: Operation; readonly now: number },
  ): void {
    const { metrics } = this.#deps;
    const { operation, now } = ended;
    const { phase, key, startedAt } = operation;
    const { direction } = ended.flow;
    if (phase.kind === 'failed') {
      metrics.operations.inc({ namespace, direction, result: 'failed' });
      this.#reportFailed(namespace, { direction, key, error: phase.error.message });
    } else if (phase.kind === 'done') {
      this.#complaints.get(namespace)?.delete(key);
      metrics.operations.inc({ namespace, direction, result: phase.outcome });
      if (phase.outcome === 'scaled') metrics.operationSeconds.observe((now - startedAt) / 1_000, { direction });
    }
  }

  /** Logs a failure as an error again only when it changes, because every run tries again. */
  #reportFailed(
    namespace: string,
    { direction, key, error }: { readonly direction: string; readonly key: string; readonly error: string },
  ): void {
    const known = this.#complaints.get(namespace) ?? new Map<string, string>();
    const complaint = `${direction}: ${error}`;
    const level = known.get(key) === complaint ? 'debug' : 'error';
    this.#deps.logger[level](`scaling ${direction} failed`, { namespace, resource: key, error });
    this.#complaints.set(namespace, known.set(key, complaint));
  }
}
