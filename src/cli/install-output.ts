import type { InstallReport, Uninstalled as UninstallReport } from '../install/index.ts';
import { escapeControls } from '../telemetry/index.ts';
import { type OutputFormat, formatDocument } from './output.ts';

export interface OutputOptions {
  readonly format: OutputFormat;
  readonly dryRun: boolean;
}

type ChangedObject = InstallReport['objects'][number];
type Difference = ChangedObject['differences'][number];

const quoteValue = (value: unknown): string => escapeControls(JSON.stringify(value));

const isText = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');

/** Returns the lines that only one of two texts contains. */
const textLines = (before: string, after: string): readonly string[] => {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `  - ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `  + ${line}`),
  ];
};

const differenceLines = ({ path, before, after }: Difference): readonly string[] => {
  if (isText(before) && isText(after)) return [`${path}:`, ...textLines(before, after)];
  if (before === undefined) return [`${path}: + ${quoteValue(after)}`];
  if (after === undefined) return [`${path}: - ${quoteValue(before)}`];
  return [`${path}: ${quoteValue(before)} -> ${quoteValue(after)}`];
};

const nameOf = ({ object: { kind, metadata } }: ChangedObject): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;

const wouldBe = {
  created: 'would be created',
  configured: 'would change',
  unchanged: 'unchanged',
  pruned: 'would be pruned',
};

/** Formats one object: a dry run lists its differences; otherwise one line reports what was done. */
const objectLines = (changed: ChangedObject, dryRun: boolean): readonly string[] => {
  const { change, differences, conflicts } = changed;
  if (!dryRun) return [`${nameOf(changed)}: ${change}`];
  return [
    `${nameOf(changed)}: ${wouldBe[change]}`,
    ...differences.flatMap(differenceLines).map((line) => `    ${line}`),
    ...conflicts.map(
      ({ manager, field }) => `    ${field} is managed by "${manager}": --force-conflicts takes it over`,
    ),
  ];
};

const count = (objects: readonly ChangedObject[], change: ChangedObject['change']): number =>
  objects.filter((one) => one.change === change).length;

const summaryOf = ({ objects }: InstallReport, dryRun: boolean): string => {
  const changes = (['created', 'configured', 'pruned'] as const)
    .map((change) => ({ change, number: count(objects, change) }))
    .filter(({ number }) => number > 0)
    .map(({ change, number }) => `${String(number)} ${dryRun ? wouldBe[change] : change}`);
  const unchanged = `${String(count(objects, 'unchanged'))} unchanged`;
  const left = dryRun ? '; nothing was changed' : '';
  return changes.length === 0 ? `nothing to change: ${unchanged}` : `${[...changes, unchanged].join(', ')}${left}`;
};

const checkWords = { ok: 'ok', warning: 'WARNING', failed: 'FAILED' } as const;

const installedTable = (report: InstallReport, dryRun: boolean): string =>
  [
    ...report.objects.flatMap((object) => objectLines(object, dryRun)),
    ...[...report.leaders].map(([component, pod]) => `${component}: ready, and ${pod} leads`),
    ...report.checks.map(({ name, status, detail }) => `${name}: ${checkWords[status]}: ${detail}`),
    summaryOf(report, dryRun),
    '',
  ].join('\n');

const installedDocument = ({ objects, leaders, checks }: InstallReport, dryRun: boolean) => ({
  dryRun,
  objects: objects.map(({ object: { apiVersion, kind, metadata }, change, differences, conflicts }) => ({
    apiVersion,
    kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    change,
    ...(differences.length === 0 ? {} : { differences }),
    ...(conflicts.length === 0 ? {} : { conflicts }),
  })),
  leaders: Object.fromEntries(leaders),
  checks,
});

export const formatInstalled = (report: InstallReport, { format, dryRun }: OutputOptions): string =>
  format === 'table' ? installedTable(report, dryRun) : formatDocument(installedDocument(report, dryRun), format);

const uninstalledTable = (report: UninstallReport, dryRun: boolean, namespace: string): string => {
  const { restored, left, removed, others, helmReleases } = report;
  return [
    ...restored.map((name) => `${name}: ${dryRun ? 'would be restored' : 'restored'}`),
    ...left.map((line) => `LEFT: ${line}`),
    ...others.map((line) => `nothing is restored, because another prober is active: ${line}`),
    ...removed.map((name) => `${name}: ${dryRun ? 'would be removed' : 'removed'}`),
    removed.length === 0
      ? `nothing is installed in the namespace ${namespace}: no object has the labels of an installation`
      : `${String(removed.length)} ${dryRun ? 'would be removed' : 'removed'}`,
    ...helmReleases.map(
      (release) =>
        `Helm still has a record of the release: helm uninstall ${release.name} -n ${release.namespace} removes it`,
    ),
    '',
  ].join('\n');
};

export const formatUninstalled = (
  report: UninstallReport,
  { format, dryRun, namespace }: OutputOptions & { readonly namespace: string },
): string =>
  format === 'table' ? uninstalledTable(report, dryRun, namespace) : formatDocument({ dryRun, ...report }, format);
