import { type RunningTarget, type ProcessStart, type Target, startTarget } from './target.ts';

/** A program that is restarted whenever it ends by itself, as a kubelet restarts a container, but without back-off. */
export interface RestartedTarget {
  /** PID of the current process. */
  pid(): number;
  /** Number of times that the program has ended by itself. */
  exits(): number;
  /** Complete output of all its processes. */
  output(): string;
  stop(): Promise<void>;
}

export const startRestarted = (target: Target, start: ProcessStart): RestartedTarget => {
  let isWanted = true;
  let exits = 0;
  let former = '';
  let current: RunningTarget;
  const run = (): void => {
    const program = startTarget(target, start);
    current = program;
    void program.ended.then(() => {
      if (!isWanted) return;
      exits += 1;
      former += program.output();
      run();
    });
  };
  run();
  return {
    pid: () => current.pid,
    exits: () => exits,
    output: () => former + current.output(),
    stop: () => {
      isWanted = false;
      return current.stop();
    },
  };
};
