export { type PreflightCheck, type PreflightFinding, type CheckStatus, statusOf, subjects } from './checks/check.ts';
export { type FindingCode, type FindingSeverity, codes, rankOf } from './checks/codes.ts';
export { type PreflightReport, type PreflightRun, runPreflight } from './preflight.ts';
export type { RightsOf } from './read-seed.ts';
