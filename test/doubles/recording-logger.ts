import type { LogFields, Logger } from '../../src/ports/logger.ts';

export interface RecordedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export interface RecordingLogger extends Logger {
  /** All lines so far, including those of child loggers. */
  readonly lines: readonly RecordedLine[];
  /** Messages of one level, in order. */
  at(level: RecordedLine['level']): readonly string[];
}

export const createRecordingLogger = (): RecordingLogger => {
  const lines: RecordedLine[] = [];
  const over = (bound: LogFields): Logger => {
    const write =
      (level: RecordedLine['level']) =>
      (message: string, fields: LogFields = {}): void =>
        void lines.push({ level, message, fields: { ...bound, ...fields } });
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => over({ ...bound, ...fields }),
    };
  };
  return {
    ...over({}),
    lines,
    at: (level) => lines.filter((line) => line.level === level).map((line) => line.message),
  };
};
