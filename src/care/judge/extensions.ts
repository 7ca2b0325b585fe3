import { type Condition, findCondition } from '../../gardener/condition.ts';
import type { Finding, ShootConditionType } from '../../gardener/shoot-conditions.ts';
import { goAge } from '../../kubernetes/api/go-time.ts';
import { failed, firstFinding, ifRead } from './finding.ts';
import type { CheckInput, ExtensionHeartbeat, ExtensionObservation } from './observation.ts';

/** Says since when a report is outdated, or what of it was not found; undefined while it is fresh. `thresholdMs`: longest age of a fresh report. */
const outdated = (
  heartbeat: ExtensionHeartbeat,
  { lastUpdateTime }: Condition,
  { now, thresholdMs }: { readonly now: number; readonly thresholdMs: number },
): string | undefined => {
  if (heartbeat.kind === 'unknown') return undefined;
  if (heartbeat.kind === 'none') return `${heartbeat.missing} was found`;
  const at = heartbeat.kind === 'lease' ? heartbeat.renewedAt : Date.parse(lastUpdateTime);
  if (Number.isNaN(at)) return 'no lastUpdateTime was found';
  if (now - at <= thresholdMs) return undefined;
  const { age, time } = goAge(at, now);
  return `last updated: ${age} ago at ${time}`;
};

const staleFinding = (
  { kind, meta, heartbeat }: ExtensionObservation,
  condition: Condition,
  { settings, now }: CheckInput,
): Finding | undefined => {
  const { enabled, threshold: thresholdMs } = settings.staleExtensionHealthChecks;
  const why = enabled ? outdated(heartbeat, condition, { now, thresholdMs }) : undefined;
  if (why === undefined) return undefined;
  return {
    status: 'Unknown',
    reason: `${kind}OutdatedHealthCheckReport`,
    message: `${kind} extension (${meta.namespace}/${meta.name}) reports an outdated health status (${why}).`,
  };
};

const reportedFinding = ({ kind }: ExtensionObservation, condition: Condition): Finding | undefined => {
  const { status, reason, message, codes } = condition;
  if (status === 'Progressing') return { status, reason: `${kind}${reason}`, message, codes };
  if (status === 'False' || status === 'Unknown') return failed(`${kind}UnhealthyReport`, message, codes);
  return undefined;
};

/** Returns the first problem in the reports of extensions. An outdated report is a problem even if it is True. */
export const extensionFinding = (input: CheckInput, type: ShootConditionType): Finding | undefined =>
  firstFinding(input.seed.extensions, (read) =>
    ifRead(read, (extension) => {
      const condition = findCondition(extension.conditions, type);
      return condition && (staleFinding(extension, condition, input) ?? reportedFinding(extension, condition));
    }),
  );
