import type { Counter, Meter } from '../ports/meter.ts';

export interface ProgramInfo {
  /** As `prober`. */
  readonly component: string;
  readonly version: string;
  readonly isDryRun: boolean;
}

export interface ProgramMetrics {
  readonly droppedLogLines: Counter;
}

/** What every program says of itself. To be called once per meter. */
export const createProgramMetrics = (meter: Meter, { component, version, isDryRun }: ProgramInfo): ProgramMetrics => {
  const build = { name: 'dwd_build_info', help: 'Always 1; what runs here.', labels: ['component', 'version'] };
  meter.gauge(build).set(1, { component, version });
  meter.gauge({ name: 'dwd_dry_run', help: '1 if this program writes nothing (--dry-run).' }).set(isDryRun ? 1 : 0);
  return {
    droppedLogLines: meter.counter({
      name: 'dwd_log_lines_dropped_total',
      help: 'Lines of the log that could not be written: a full disk, a closed pipe, a reader that does not read.',
    }),
  };
};
