/** The members of Node's `stream.Writable` that are used. */
export interface OutputStream {
  /** Number of bytes that are accepted but not written yet. */
  readonly writableLength: number;
  write(text: string, done?: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** Listeners for log lines that cannot be written. */
export interface LogListeners {
  /** Called for each lost line. */
  readonly onDropped: () => void;
  /** Called when the stream has written all accepted lines again. `lines` is the number of lines lost before. */
  readonly onRecovered: (lines: number) => void;
}

/** Limit of unwritten bytes. Without a limit, a stalled reader would make the log use up the program's memory. */
const longestBacklog = 1024 * 1024;

/**
 * Returns a function that writes whole lines to a stream. The caller must listen for the stream's errors. If a full disk, a closed pipe or a stalled reader
 * prevents writing, lines are dropped: the log neither ends nor blocks the program.
 */
export const createLogSink = (stream: OutputStream, { onDropped, onRecovered }: LogListeners) => {
  let lost = 0;
  const drop = (): void => {
    lost += 1;
    onDropped();
  };
  const written = (): void => {
    if (lost === 0 || stream.writableLength > 0) return;
    const lines = lost;
    lost = 0;
    onRecovered(lines);
  };
  return (line: string): void => {
    if (stream.writableLength > longestBacklog) drop();
    else stream.write(line, (error) => (error ? drop() : written()));
  };
};
