import { plural } from '../status/state/words.ts';
import { indented } from '../telemetry/index.ts';
import {
  type CheckStatus,
  type FindingCode,
  type PreflightCheck,
  type PreflightFinding,
  type PreflightReport,
  codes,
  rankOf,
  statusOf,
  subjects,
} from '../preflight/index.ts';
import { type OutputFormat, colourBy, formatDocument } from './output.ts';

/** Limits of the table: shoots named per sentence, and sentences printed per code. JSON has all. */
const [mostShoots, mostSentences] = [10, 10];

const words: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  failed: 'FAILED',
  warning: 'WARNING',
  unknown: 'UNKNOWN',
  'left out': 'left out',
};

/** Colours the status of a check. */
const paint = colourBy<CheckStatus>({
  ok: 'green',
  failed: 'red',
  warning: 'yellow',
  unknown: 'magenta',
  'left out': 'dim',
});

const statusWidth = 8;

const checkLines = (check: PreflightCheck): readonly string[] => {
  const status = statusOf(check);
  const found = [...new Set(check.findings.map(({ code }) => code))];
  const text = `${check.name}: ${check.detail}${found.length === 0 ? '' : ` [${found.join(', ')}]`}`;
  const [first = '', ...more] = indented(text, statusWidth + 4).map((line) => line.trimStart());
  return [
    `  ${paint(status, words[status].padEnd(statusWidth))}  ${first}`,
    ...more.map((line) => `${' '.repeat(statusWidth + 4)}${line}`),
  ];
};

const subjectLines = (checks: readonly PreflightCheck[]): readonly string[] =>
  subjects.flatMap((subject) => {
    const own = checks.filter((check) => check.subject === subject);
    return own.length === 0 ? [] : [subject, ...own.flatMap(checkLines), ''];
  });

const named = (shoots: readonly string[]): string => {
  const rest = shoots.length - mostShoots;
  const first = shoots.slice(0, mostShoots).join(', ');
  return rest > 0 ? `${first} and ${String(rest)} more` : first;
};

/** Returns the sentence, preceded by the shoots that it applies to. */
const sentenceOf = (detail: string, findings: readonly PreflightFinding[]): string => {
  const shoots = [...new Set(findings.flatMap(({ shoot }) => shoot ?? []))];
  return shoots.length === 0 ? detail : `${named(shoots)}: ${detail}`;
};

const findingLines = ([code, findings]: readonly [FindingCode, readonly PreflightFinding[]]): readonly string[] => {
  const { severity, todo } = codes[code];
  const shoots = new Set(findings.flatMap(({ shoot }) => shoot ?? []));
  const where = shoots.size === 0 ? '' : ` in ${plural(shoots.size, 'shoot')}`;
  const sentences = [...Map.groupBy(findings, ({ detail }) => detail)].toSorted(([, a], [, b]) => b.length - a.length);
  const rest = sentences.length - mostSentences;
  return [
    `${paint(severity, words[severity])} ${code}${where}`,
    ...sentences.slice(0, mostSentences).flatMap(([detail, group]) => indented(sentenceOf(detail, group))),
    ...(rest > 0 ? indented(`and ${String(rest)} more (-o json has all)`) : []),
    ...indented(`-> ${todo}`),
    '',
  ];
};

const countsOf = (checks: readonly PreflightCheck[]): Readonly<Record<CheckStatus, number>> => {
  const counts = { ok: 0, failed: 0, warning: 0, unknown: 0, 'left out': 0 };
  for (const check of checks) counts[statusOf(check)] += 1;
  return counts;
};

const summaryOf = (checks: readonly PreflightCheck[]): string => {
  const counts = countsOf(checks);
  const names = { failed: 'failed', warning: 'with warnings', unknown: 'unknown', ok: 'ok', 'left out': 'left out' };
  const order = ['failed', 'warning', 'unknown', 'ok', 'left out'] as const;
  const parts = order.flatMap((status) =>
    counts[status] === 0 ? [] : [paint(status, `${String(counts[status])} ${names[status]}`)],
  );
  return `${plural(checks.length, 'check')}: ${parts.join(', ')}`;
};

/** Prints one line per check, and explains the findings at the end, worst first, because a terminal shows the end of long output. */
const table = (checks: readonly PreflightCheck[]): string => {
  const findings = checks.flatMap((check) => check.findings);
  // A failed read is reported once, although several checks depend on it.
  const unique = [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
  const byCode = [...Map.groupBy(unique, ({ code }) => code)].toSorted(([a], [b]) => rankOf(a) - rankOf(b));
  return [...subjectLines(checks), ...byCode.flatMap(findingLines), summaryOf(checks), ''].join('\n');
};

/** The JSON and YAML form of the report. */
const documentOf = ({ checks, exitCode }: PreflightReport) => ({
  exitCode,
  counts: countsOf(checks),
  checks: checks.map((check) => ({
    subject: check.subject,
    name: check.name,
    status: statusOf(check),
    detail: check.detail,
    findings: check.findings.map((finding) => ({
      ...finding,
      severity: codes[finding.code].severity,
      todo: codes[finding.code].todo,
    })),
  })),
});

/** Formats the report as text without control characters other than line feeds and colours. Only the table is coloured. */
export const formatPreflight = (report: PreflightReport, format: OutputFormat): string =>
  format === 'table' ? table(report.checks) : formatDocument(documentOf(report), format);
