import { type Condition, type ShootConditionType, findCondition, goAge } from '../../domain/index.ts';
import { failed, type Finding, ifRead } from './finding.ts';
import type { Circumstances, ExtensionView, HeardReport, HeartbeatView } from './observation.ts';

interface Heard {
  readonly kind: ExtensionView['kind'];
  readonly report: HeardReport;
  readonly condition: Condition;
}

const heardAt = (heartbeat: HeartbeatView, { lastUpdateTime }: Condition): number | undefined => {
  if (heartbeat.kind === 'lease') return heartbeat.renewedAt;
  const updated = Date.parse(lastUpdateTime);
  return Number.isNaN(updated) ? undefined : updated;
};

const staleFinding = ({ kind, report, condition }: Heard, { settings, now }: Circumstances): Finding | undefined => {
  const { staleExtensionThresholdMs: threshold } = settings;
  if (threshold === undefined || report.heartbeat.kind === 'unknown') return undefined;
  const at = heardAt(report.heartbeat, condition);
  if (at !== undefined && now - at <= threshold) return undefined;
  const { age, time } = goAge(at, now);
  const { namespace, name } = report.meta;
  return {
    status: 'Unknown',
    reason: `${kind}OutdatedHealthCheckReport`,
    message: `${kind} extension (${namespace}/${name}) reports an outdated health status (last updated: ${age} ago at ${time}).`,
  };
};

const reportedFinding = ({ kind, condition }: Heard): Finding | undefined => {
  const { status, reason, message, codes = [] } = condition;
  if (status === 'Progressing') {
    return { status, reason: `${kind}${reason}`, message, ...(codes.length === 0 ? {} : { codes }) };
  }
  if (status === 'False' || status === 'Unknown') return failed(`${kind}UnhealthyReport`, message, codes);
  return undefined;
};

/** What extensions say of their components. The first problem decides; outdated good news are no news. */
export const extensionFinding = (circumstances: Circumstances, type: ShootConditionType): Finding | undefined => {
  for (const { kind, reports } of circumstances.seed.extensions) {
    const finding = ifRead(reports, (heard) => {
      for (const report of heard) {
        const condition = findCondition(report.conditions, type);
        if (condition === undefined) continue;
        const one = { kind, report, condition };
        const problem = staleFinding(one, circumstances) ?? reportedFinding(one);
        if (problem !== undefined) return problem;
      }
      return undefined;
    });
    if (finding !== undefined) return finding;
  }
  return undefined;
};
