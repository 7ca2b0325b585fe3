import type { Logger } from '../ports/logger.ts';
import type { LogListeners } from './log-sink.ts';
import type { Terminal } from './terminal.ts';

/** One line on stderr that changes in place, for who waits. */
export interface Progress {
  readonly show: (line: string) => void;
  readonly clear: () => void;
}

/** The process as commands see it. */
export interface CliIo {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Such as `v24.1.0`. */
  readonly nodeVersion: string;
  /** Control characters other than line feeds and tabs are written escaped: they come from elsewhere, from a cluster for one. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** For text in colour: as it is. Who colours it escapes what is coloured. */
  readonly stdoutStyled: (text: string) => void;
  /** Present where stderr is a terminal that knows control sequences. */
  readonly progress?: Progress;
  /** Present where both stdin and stdout are a terminal. */
  readonly terminal?: Terminal;
  /** Prints a question and reads a line of an answer. Present where both stdin and stdout are a terminal; to be called once. */
  readonly ask?: (question: string) => Promise<string>;
  /** The whole text of a regular file, or of stdin for `-`. Rejects with an error whose message says why in words. */
  readonly readFile: (path: string) => Promise<string>;
  /**
   * Makes stderr the log of a component: takes whole lines, and never ends the program, whatever becomes of them. Without this, the program
   * ends when the reader of its output leaves.
   */
  readonly openLog: (listeners: LogListeners) => (line: string) => void;
  /** From the first call on, SIGTERM, SIGINT and SIGHUP abort this signal instead of ending the process; a second one ends it at once. */
  readonly stopOnSignals: () => AbortSignal;
  /** From now on unexpected errors are logged here before they end the process. */
  readonly reportCrashesTo: (logger: Logger) => void;
}
