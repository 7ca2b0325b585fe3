import { isHeld } from '../../domain/index.ts';
import type { Logger, Meter } from '../../ports/index.ts';
import type { Flow, FlowEnd } from './flow.ts';
import { createProberMetrics, forgetShoot } from './metrics.ts';
import type { RunResult } from './observe.ts';
import type { Action, Operation, Outcome } from './operation.ts';
import type { Verdict } from './verdict.ts';

/** The only stage that logs and counts. */
export interface ProberReport {
  proberStarted(namespace: string, why: { readonly delayMs: number }): void;
  proberStopped(namespace: string, why: { readonly reason: string; readonly farewell: string }): void;
  settingsChanged(namespace: string): void;
  clusterUndecodable(namespace: string, error: Error): void;
  probers(count: number): void;
  runEnded(namespace: string, run: { readonly result: RunResult; readonly previous: Verdict | undefined }): void;
  flowStarted(namespace: string, flow: Flow): void;
  answered(namespace: string, answer: Answered): void;
  flowEnded(namespace: string, ended: { readonly flow: Flow; readonly end: FlowEnd; readonly now: number }): void;
  /** An exception nobody foresaw. */
  broke(namespace: string, error: unknown): void;
  /** The shoot is gone: its series go too. */
  forget(namespace: string): void;
}

/** Of a scale-down verdict, monotonic milliseconds: when the threshold was crossed, and when KCM would act. */
export interface Race {
  readonly crossedAt: number;
  readonly graceEndsAt: number;
}

interface Answered {
  readonly flow: Flow;
  readonly action: Action;
  readonly outcome: Outcome;
  readonly now: number;
  readonly race?: Race;
}

const warnSkewMs = 5_000;

const resultOf = (verdict: Verdict): string => {
  switch (verdict.kind) {
    case 'failed':
      return verdict.failure;
    case 'skip':
    case 'confirm':
      return 'skipped';
    case 'scale-down':
      return 'unhealthy';
    case 'scale-up':
      return 'healthy';
  }
};

/** Two verdicts that are one to the operator. */
const sameVerdict = (a: Verdict | undefined, b: Verdict): boolean =>
  a?.kind === b.kind &&
  (a.kind !== 'failed' || (b.kind === 'failed' && a.failure === b.failure && a.error.message === b.error.message));

export const createProberReport = ({
  logger,
  meter,
}: {
  readonly logger: Logger;
  readonly meter: Meter;
}): ProberReport => {
  const metrics = createProberMetrics(meter);
  const held = new Map<string, Set<string>>();
  const skewed = new Set<string>();

  const reportRun: ProberReport['runEnded'] = (namespace, { result, previous }) => {
    const { decision, durationMs, skewMs } = result;
    const { verdict, reason, counts } = decision;
    metrics.runs.inc({ namespace, result: resultOf(verdict) });
    metrics.runSeconds.observe(durationMs / 1_000);
    if (counts !== undefined) {
      metrics.candidates.set(counts.candidates, { namespace });
      metrics.expired.set(counts.expired, { namespace });
    }
    if (skewMs !== undefined) reportSkew(namespace, skewMs);
    const fields = { namespace, verdict: verdict.kind, reason, ...counts };
    if (sameVerdict(previous, verdict)) logger.debug('probe run', fields);
    else if (verdict.kind === 'failed') logger.error('probe failed: nothing is scaled', fields);
    else logger.info('verdict', fields);
  };

  const reportSkew = (namespace: string, skewMs: number): void => {
    metrics.skew.set(skewMs / 1_000, { namespace });
    if (Math.abs(skewMs) <= warnSkewMs) skewed.delete(namespace);
    else if (!skewed.has(namespace)) {
      skewed.add(namespace);
      const seconds = Math.round(skewMs / 1_000);
      logger.warn("the shoot API server's clock and ours differ", { namespace, seconds });
    }
  };

  const reportAnswer: ProberReport['answered'] = (namespace, { flow, action, outcome, now, race }) => {
    const { key, result } = outcome;
    if (result.ok && result.value !== undefined) keepHeld(namespace, key, isHeld(result.value));
    if (action.kind === 'read') {
      if (!result.ok) logger.info('reading failed', { namespace, resource: key, error: result.error.message });
      return;
    }
    const { base, replicas, annotations, unreadable } = action.write;
    const fields = { namespace, resource: key, reason: flow.reason };
    const change = replicas === undefined ? { annotations } : { from: base.specReplicas, to: replicas };
    if (!result.ok) {
      logger.error('writing failed', { ...fields, ...change, error: result.error.message });
      return;
    }
    if (unreadable !== undefined) {
      logger.error('the stored number of replicas cannot be read: restoring 1', { ...fields, stored: unreadable });
    }
    logger.info(replicas === undefined ? 'annotated' : `scaled ${replicas === 0 ? 'down' : 'up'}`, {
      ...fields,
      ...change,
    });
    if (replicas !== 0 || race === undefined) return;
    metrics.downSeconds.observe((now - race.crossedAt) / 1_000);
    metrics.margin.set((race.graceEndsAt - now) / 1_000, { namespace });
  };

  const keepHeld = (namespace: string, key: string, isDown: boolean): void => {
    const keys = held.get(namespace) ?? new Set();
    held.set(namespace, keys);
    if (isDown) keys.add(key);
    else keys.delete(key);
    metrics.held.set(keys.size, { namespace });
  };

  const reportOperation = (
    namespace: string,
    { flow, operation, now }: { flow: Flow; operation: Operation; now: number },
  ): void => {
    const { phase, key, startedAt } = operation;
    const { direction } = flow;
    if (phase.kind === 'failed') {
      metrics.operations.inc({ namespace, direction, result: 'failed' });
      logger.error(`scaling ${direction} failed`, { namespace, resource: key, error: phase.error.message });
    } else if (phase.kind === 'done') {
      metrics.operations.inc({ namespace, direction, result: phase.outcome });
      if (phase.outcome === 'scaled') metrics.operationSeconds.observe((now - startedAt) / 1_000, { direction });
    }
  };

  return {
    proberStarted: (namespace, { delayMs }) => logger.info('probing', { namespace, firstRunInMs: Math.round(delayMs) }),
    proberStopped: (namespace, why) => logger.info('no longer probing', { namespace, ...why }),
    settingsChanged: (namespace) => logger.info('settings of the shoot changed', { namespace }),
    clusterUndecodable: (namespace, error) => {
      metrics.clusterErrors.inc({ namespace });
      logger.error('Cluster cannot be decoded: its prober is left as it is', { namespace, error: error.message });
    },
    probers: (count) => metrics.probers.set(count),
    runEnded: reportRun,
    flowStarted: (namespace, { direction, scope, reason }) =>
      logger.info(`scaling ${direction} starts`, { namespace, scope, reason }),
    answered: reportAnswer,
    flowEnded: (namespace, { flow, end, now }) => {
      for (const operation of flow.operations) reportOperation(namespace, { flow, operation, now });
      logger.info(`scaling ${flow.direction} ${end}`, { namespace, seconds: (now - flow.startedAt) / 1_000 });
    },
    broke: (namespace, error) => {
      metrics.bugs.inc({ namespace });
      logger.error('unexpected error: this is a bug', { namespace, error });
    },
    forget: (namespace) => {
      held.delete(namespace);
      skewed.delete(namespace);
      forgetShoot(metrics, namespace);
    },
  };
};
