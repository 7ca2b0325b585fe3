import type { ShootConditionType } from '../../gardener/shoot-conditions.ts';
import { type Condition, findCondition } from '../../gardener/condition.ts';
import { goAge } from '../../kubernetes/api/go-time.ts';
import { type Finding, failed, ifRead } from './finding.ts';
import type { CheckInput, ExtensionHeartbeat, ExtensionObservation, ReportWithHeartbeat } from './observation.ts';

interface Reported {
  readonly kind: ExtensionObservation['kind'];
  readonly report: ReportWithHeartbeat;
  readonly condition: Condition;
}

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

const staleFinding = ({ kind, report, condition }: Reported, { settings, now }: CheckInput): Finding | undefined => {
  const { staleExtensionThresholdMs: thresholdMs } = settings;
  if (thresholdMs === undefined) return undefined;
  const why = outdated(report.heartbeat, condition, { now, thresholdMs });
  if (why === undefined) return undefined;
  const { namespace, name } = report.meta;
  return {
    status: 'Unknown',
    reason: `${kind}OutdatedHealthCheckReport`,
    message: `${kind} extension (${namespace}/${name}) reports an outdated health status (${why}).`,
  };
};

const reportedFinding = ({ kind, condition }: Reported): Finding | undefined => {
  const { status, reason, message, codes = [] } = condition;
  if (status === 'Progressing') {
    return { status, reason: `${kind}${reason}`, message, ...(codes.length === 0 ? {} : { codes }) };
  }
  if (status === 'False' || status === 'Unknown') return failed(`${kind}UnhealthyReport`, message, codes);
  return undefined;
};

/** Returns the first problem in the reports of extensions. An outdated report is a problem even if it is True. */
export const extensionFinding = (input: CheckInput, type: ShootConditionType): Finding | undefined => {
  for (const { kind, reports } of input.seed.extensions) {
    const finding = ifRead(reports, (all) => {
      for (const report of all) {
        const condition = findCondition(report.conditions, type);
        if (condition === undefined) continue;
        const one = { kind, report, condition };
        const problem = staleFinding(one, input) ?? reportedFinding(one);
        if (problem !== undefined) return problem;
      }
      return undefined;
    });
    if (finding !== undefined) return finding;
  }
  return undefined;
};
