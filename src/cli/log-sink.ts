/** What is used of Node's `stream.Writable`. */
export interface OutputStream {
  /** Bytes that it has accepted and not written. */
  readonly writableLength: number;
  write(text: string, done?: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** What happens to lines of a log that cannot be written. */
export interface LogListeners {
  /** A line was lost. */
  readonly onDropped: () => void;
  /** All that was accepted is written again; `lines` were lost before. */
  readonly onRecovered: (lines: number) => void;
}

/** More waits for a reader that does not read, and the program dies of its own log. */
const longestBacklog = 1024 * 1024;

/**
 * Writes whole lines on a stream, which needs a listener for its errors. Those that a full disk, a closed pipe or a reader that does not read keeps
 * from being written are dropped: a log never ends the program, nor makes it wait.
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
