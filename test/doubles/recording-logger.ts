import type { LogFields, Logger } from '../../src/ports/logger.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export interface RecordingLogger extends Logger {
  /** All lines so far, those of the children too. */
  readonly lines: readonly LogLine[];
  /** Messages of one level, in order. */
  at(level: LogLine['level']): readonly string[];
}

export const createRecordingLogger = (): RecordingLogger => {
  const lines: LogLine[] = [];
  const over = (bound: LogFields): Logger => {
    const write =
      (level: LogLine['level']) =>
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
