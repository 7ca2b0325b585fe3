import type { DependentResource, ProberSettings, ScaleInfo } from '../domain/index.ts';
import { conform } from './conform.ts';
import { type ConfigProblem, type Path, type Severity, formatPath, hasErrors, sortProblems } from './problem.ts';
import { crossFieldFindings } from './prober-rules.ts';
import { type ProberConfig, proberSchema } from './prober-schema.ts';
import { type ConfigSource, readSource } from './source.ts';

export interface LoadOptions {
  /**
   * Severity of what the Go program overlooks: unknown and misspelled fields, and further documents. `error` to check a file;
   * `warning` for a running component, because a file that the Go program ran must not leave a seed unprotected.
   */
  readonly leftovers: Severity;
}

export interface LoadedProberConfig {
  /** Present unless one of the problems is an error. */
  readonly settings?: ProberSettings;
  /** All of them, in the order of the file. */
  readonly problems: readonly ConfigProblem[];
}

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
};

const scaleInfo = (config: { level: number; initialDelay: number; timeout: number }): ScaleInfo => ({
  level: config.level,
  initialDelayMs: config.initialDelay,
  timeoutMs: config.timeout,
});

const dependentResources = (config: ProberConfig): readonly DependentResource[] =>
  config.dependentResourceInfos.flatMap(({ ref, optional, scaleUp, scaleDown }) =>
    // Without scaleUp there is an error already, and no settings.
    scaleUp === undefined
      ? []
      : [
          {
            ref,
            optional,
            scaleUp: scaleInfo(scaleUp),
            ...(scaleDown === undefined ? {} : { scaleDown: scaleInfo(scaleDown) }),
          },
        ],
  );

const settingsFrom = (config: ProberConfig): ProberSettings =>
  freeze({
    kubeConfigSecretName: config.kubeConfigSecretName,
    probeIntervalMs: config.probeInterval,
    initialDelayMs: config.initialDelay,
    probeTimeoutMs: config.probeTimeout,
    backoffJitterFactor: config.backoffJitterFactor,
    nodeMonitorGraceMs: config.kcmNodeMonitorGraceDuration,
    nodeLeaseFailureFraction: config.nodeLeaseFailureFraction,
    dependentResources: dependentResources(config),
  });

/** Judges what was read; the problems of reading it are not repeated. */
export const proberConfigFrom = (source: ConfigSource, { leftovers }: LoadOptions): LoadedProberConfig => {
  const schema = proberSchema();
  const { value, deviations } = conform(schema, source.value, (path) => source.styleOf(path) === 'PLAIN');
  const problems: ConfigProblem[] = deviations.map(({ path, message }) => ({
    ...source.positionOfKey(path),
    path: formatPath(path),
    message,
    severity: leftovers,
  }));
  const report = (path: Path, message: string, severity: Severity): void => {
    problems.push({ ...source.positionOf(path), path: formatPath(path), message, severity });
  };
  const parsed = schema.safeParse(value);
  for (const { path, message } of parsed.error?.issues ?? []) report(path as Path, message, 'error');
  for (const { path, message, severity } of crossFieldFindings(value)) report(path, message, severity);
  if (!parsed.success || hasErrors(problems)) return { problems: sortProblems(problems) };
  return { settings: settingsFrom(parsed.data), problems: sortProblems(problems) };
};

/** Reads, checks and completes the prober's configuration. Never throws: everything that is wrong is in `problems`, all at once. */
export const loadProberConfig = (text: string, options: LoadOptions): LoadedProberConfig => {
  const { source, problems } = readSource(text, options.leftovers);
  if (source === undefined) return { problems };
  const judged = proberConfigFrom(source, options);
  const all = sortProblems([...problems, ...judged.problems]);
  return judged.settings === undefined || hasErrors(problems)
    ? { problems: all }
    : { settings: judged.settings, problems: all };
};
