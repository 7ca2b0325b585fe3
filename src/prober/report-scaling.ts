import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';
import { ignoreScalingAnnotation } from '../kubernetes/api/scalable.ts';
import { shorten } from '../kubernetes/api/shorten.ts';
import type { Logger } from '../ports/logger.ts';
import type { EventRecorder } from '../telemetry/index.ts';
import type { ProberMetrics } from './metrics.ts';
import type { Flow, FlowEnd } from './plan/flow.ts';
import { unknownManager } from './plan/patch-plan.ts';
import { type Action, type Operation, type Outcome, maxAttempts } from './plan/operation.ts';

/** Of a scale-down verdict, monotonic milliseconds: when the threshold was crossed, and when KCM would act. */
export interface Race {
  readonly crossedAt: number;
  readonly graceEndsAt: number;
}

/** An answer to the one request of an action. */
export interface Answered {
  readonly flow: Flow;
  readonly action: Action;
  readonly outcome: Outcome;
  /** The resource, with the UID that a watch shows. */
  readonly ref?: ResourceRef | undefined;
  readonly uid?: string | undefined;
  readonly now: number;
  readonly race?: Race | undefined;
}

export interface EndedFlow {
  readonly flow: Flow;
  readonly end: FlowEnd;
  readonly now: number;
  /** Resources that carry the mark of meltdown protection. */
  readonly held: number;
}

export interface ScalingReport {
  flowStarted(namespace: string, flow: Flow): void;
  answered(namespace: string, answer: Answered): void;
  flowEnded(namespace: string, ended: EndedFlow): void;
  forget(namespace: string): void;
}

export interface ScalingReportDeps {
  readonly logger: Logger;
  readonly metrics: ProberMetrics;
  readonly events: EventRecorder;
  /** Nothing is written; the log says what would be. */
  readonly dryRun: boolean;
}

type WriteAnswer = Answered & { readonly action: Extract<Action, { kind: 'write' }> };

const isWrite = (answer: Answered): answer is WriteAnswer => answer.action.kind === 'write';

/** True beyond the ordinary attempts: those were logged, and what comes of these is logged when the flow ends. */
const isRetryingOn = ({ flow, action }: Answered): boolean =>
  flow.operations.some(({ key, attempts }) => key === action.key && attempts >= maxAttempts);

/** What a prober reports of its flows. */
export class ScalingReporter implements ScalingReport {
  readonly #deps: ScalingReportDeps;
  /** Latest failure by namespace and resource. */
  readonly #complaints = new Map<string, Map<string, string>>();

  constructor(deps: ScalingReportDeps) {
    this.#deps = deps;
  }

  flowStarted(namespace: string, { direction, scope, reason }: Flow): void {
    this.#deps.logger.debug(`scaling ${direction} starts`, { namespace, scope, reason });
  }

  answered(namespace: string, answer: Answered): void {
    const { logger } = this.#deps;
    const { key, result } = answer.outcome;
    const failed = result.ok ? {} : { namespace, resource: key, error: result.error.message };
    // It is sent again every second; what comes of it is logged when the flow ends.
    if (!result.ok && result.error.heldBack) logger.debug('held back', failed);
    else if (isWrite(answer)) this.#reportWrite(namespace, answer);
    else if (!result.ok) logger.info('reading failed', failed);
  }

  flowEnded(namespace: string, { flow, end, now, held }: EndedFlow): void {
    const { metrics, logger } = this.#deps;
    metrics.held.set(held, { namespace });
    for (const operation of flow.operations) this.#reportOperation(namespace, { flow, operation, now });
    logger.debug(`scaling ${flow.direction} ${end}`, { namespace, seconds: (now - flow.startedAt) / 1_000 });
  }

  forget(namespace: string): void {
    this.#complaints.delete(namespace);
  }

  #would(words: string): string {
    return this.#deps.dryRun ? `would have ${words}` : words;
  }

  #reportWrite(namespace: string, answer: WriteAnswer): void {
    const { logger } = this.#deps;
    const { flow, action, outcome } = answer;
    const { base, replicas, annotations, unreadable, undoes } = action.write;
    const fields = {
      namespace,
      resource: outcome.key,
      reason: flow.reason,
      ...(replicas === undefined ? { annotations } : { from: base.specReplicas, to: replicas }),
    };
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
    logger.info(this.#would(wordOfWrite(replicas)), fields);
    if (undoes !== undefined) this.#reportUndone(namespace, { ...answer, undoes });
    if (replicas !== undefined) this.#recordScaling(namespace, { ...answer, replicas });
    if (replicas === 0) this.#reportRace(namespace, answer);
  }

  /** Names the writer whose count was overwritten, and says how to keep the prober off. */
  #reportUndone(namespace: string, answer: WriteAnswer & { readonly undoes: string }): void {
    const { logger, metrics, dryRun } = this.#deps;
    const { flow, action, outcome, undoes } = answer;
    const { specReplicas } = action.write.base;
    const fields = { namespace, resource: outcome.key, manager: undoes, replicas: specReplicas, reason: flow.reason };
    logger.warn(this.#would("undone another writer's change of replicas"), fields);
    if (!dryRun) metrics.foreignChanges.inc({ namespace, resource: outcome.key, manager: undoes });
    const change = `Undid ${undoes === unknownManager ? 'another writer' : undoes}, who had set replicas to ${String(specReplicas)}: ${flow.reason}`;
    const message = `${change}. The annotation ${ignoreScalingAnnotation}=true keeps the dependency-watchdog off.`;
    this.#record(namespace, answer, { type: 'Warning', reason: 'MeltdownProtectionForeignChange', message });
  }

  #recordScaling(namespace: string, answer: WriteAnswer & { readonly replicas: number }): void {
    const { flow, action, replicas } = answer;
    const change = `from ${String(action.write.base.specReplicas)} to ${String(replicas)} replicas: ${flow.reason}`;
    const isDown = replicas === 0;
    this.#record(namespace, answer, {
      type: isDown ? 'Warning' : 'Normal',
      reason: isDown ? 'MeltdownProtectionScaledDown' : 'MeltdownProtectionScaledUp',
      message: `Scaled ${isDown ? 'down' : 'up'} ${change}`,
    });
  }

  #record(
    namespace: string,
    { ref, uid }: Answered,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void {
    const { dryRun, events } = this.#deps;
    if (ref === undefined || dryRun) return;
    events.record({ regarding: { ...ref, namespace, ...(uid === undefined ? {} : { uid }) }, ...event });
  }

  #reportRace(namespace: string, { race, now }: Answered): void {
    const { metrics } = this.#deps;
    if (race === undefined) return;
    metrics.downSeconds.observe((now - race.crossedAt) / 1_000);
    metrics.margin.set((race.graceEndsAt - now) / 1_000, { namespace });
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

  /** Logged again only when it changes: the next run tries again, and the one after that. */
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

const wordOfWrite = (replicas: number | undefined): string => {
  if (replicas === undefined) return 'annotated';
  return replicas === 0 ? 'scaled down' : 'scaled up';
};
