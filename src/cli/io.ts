import type { Logger } from '../ports/logger.ts';
import type { LogListeners } from './log-sink.ts';

/** The parts of the process that commands may use. */
export interface CliIo {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version of Node, such as `v24.1.0`. */
  readonly nodeVersion: string;
  /** Writes text with control characters other than line feeds and tabs escaped, because they may come from a cluster. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Writes coloured text unchanged. The caller escapes control characters before it adds colours. */
  readonly stdoutStyled: (text: string) => void;
  /** Shows the progress of a command in a line of stderr, until the next output. Present if stderr is a terminal that supports control sequences. */
  readonly progress?: (line: string) => void;
  /** Stdout, if it and stdin are a terminal; `columns` is 0 if that does not report its width. */
  readonly terminal?: Pick<NodeJS.WriteStream, 'columns'>;
  /** Prints a question and reads one line as the answer. Present if both stdin and stdout are a terminal. May be called only once. */
  readonly ask?: (question: string) => Promise<string>;
  /** Opens an address in the browser. Present on a desktop. */
  readonly openInBrowser?: (url: URL) => void;
  /** Reads the whole text of a regular file, or of stdin for `-`. Rejects with an error whose message is meant for users. */
  readonly readFile: (path: string) => Promise<string>;
  /** Reads like `readFile`, and also what the caller has opened for this process: `/dev/stdin`, and a pipe such as a shell's `<(...)`. */
  readonly readInput: (path: string) => Promise<string>;
  /**
   * Makes stderr the log of a component. The returned function writes whole lines, and a failed write never ends the program. Without this, the
   * program ends when the reader of its output closes it.
   */
  readonly openLog: (listeners: LogListeners) => (line: string) => void;
  /** After this call, SIGTERM, SIGINT and SIGHUP abort the returned signal instead of ending the process; a second one ends it at once. */
  readonly stopOnSignals: () => AbortSignal;
  /** After this call, unexpected errors are logged to `logger` before they end the process. */
  readonly reportCrashesTo: (logger: Logger) => void;
}
