import type { Counter, Meter } from '../ports/meter.ts';

export interface ProgramInfo {
  /** Name of the component, such as `prober`. */
  readonly component: string;
  readonly version: string;
  readonly isDryRun: boolean;
}

export interface ProgramMetrics {
  readonly droppedLogLines: Counter;
}

/** Declares the metrics that every program has. Call it once per meter. */
export const createProgramMetrics = (meter: Meter, { component, version, isDryRun }: ProgramInfo): ProgramMetrics => {
  const build = {
    name: 'dwd_build_info',
    help: 'Always 1.',
    labels: ['component', 'version'],
  };
  meter.gauge(build).set(1, { component, version });
  meter.gauge({ name: 'dwd_dry_run', help: '1 if this program writes nothing (--dry-run).' }).set(isDryRun ? 1 : 0);
  return {
    droppedLogLines: meter.counter({
      name: 'dwd_log_lines_dropped_total',
      help: 'Log lines that could not be written.',
    }),
  };
};
