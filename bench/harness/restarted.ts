import { type RunningTarget, type ProcessStart, type Target, startTarget } from './target.ts';

/** A program that is started again whenever it ends by itself, as a kubelet does with a container, without the kubelet's back-off. */
export interface RestartedTarget {
  /** Of the process that runs now. */
  pid(): number;
  /** How often it has ended by itself. */
  exits(): number;
  /** All that it wrote. */
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
