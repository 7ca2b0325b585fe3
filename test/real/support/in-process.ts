import { runCareProcess } from '../../../src/care/component.ts';
import { runCareOnce } from '../../../src/care/once.ts';
import { runCli } from '../../../src/cli/index.ts';
import { readTextFile } from '../../../src/cli/read-text.ts';
import { runPreflight } from '../../../src/preflight/preflight.ts';
import { proberComponent } from '../../../src/prober/component.ts';
import { runComponent } from '../../../src/process/run-component.ts';
import { readStatus } from '../../../src/status/index.ts';
import { runPause, runResume } from '../../../src/steer/pause.ts';
import { runRelease } from '../../../src/steer/release.ts';
import { weederComponent } from '../../../src/weeder/component.ts';
import { type LogLine, parseLine } from './program.ts';

/** `dwd` within the process of the test: dozens cost less than as many processes. */
export interface InProcess {
  lines(): readonly LogLine[];
  /** Stops it as SIGTERM does. Resolves to the exit code. */
  stop(): Promise<number>;
}

const simulator = {
  runRehearse: () => Promise.reject(new Error('there is no simulator here')),
  runDemo: () => Promise.reject(new Error('there is no simulator here')),
};

/** Starts a component with its command line. */
export const startInProcess = (argv: readonly string[]): InProcess => {
  const stop = new AbortController();
  const lines: LogLine[] = [];
  const write = (text: string): void => {
    for (const line of text.split('\n').filter(Boolean)) lines.push(parseLine(line));
  };
  const code = runCli(
    {
      argv,
      env: {},
      nodeVersion: process.version,
      stdout: write,
      stderr: write,
      stdoutStyled: write,
      readFile: readTextFile,
      readInput: readTextFile,
      openLog: () => write,
      stopOnSignals: () => stop.signal,
      reportCrashesTo: () => undefined,
    },
    {
      runProber: (deps) => runComponent(proberComponent(deps.standby), deps),
      runWeeder: (deps) => runComponent(weederComponent, deps),
      runCare: { process: runCareProcess, once: runCareOnce },
      runPreflight,
      runStatus: readStatus,
      runPause,
      runResume,
      runRelease,
      ...simulator,
    },
  );
  return {
    lines: () => lines,
    stop: () => {
      stop.abort(new Error('the test ends'));
      return code;
    },
  };
};
