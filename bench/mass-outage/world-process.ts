import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, Order, Ready, WorldReport } from './protocol.ts';

/** The served world, as the driver reaches it. */
export interface WorldProcess {
  readonly ready: Ready;
  /** Resolves with the time at which it was done, milliseconds since the epoch. */
  order(order: Exclude<Order, 'report'>): Promise<number>;
  report(): Promise<WorldReport>;
  end(): Promise<void>;
}

const script = fileURLToPath(new URL('./world.ts', import.meta.url));

/** The world answers every order, in order; it must not end before it is asked to. */
const nextAnswer = async <K extends Answer['order']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<Answer, { order: K }>> => {
  const ended = new AbortController();
  const exited = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`the process that serves the world ended with ${String(code)}`);
  });
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [Answer];
    if (answer.order !== kind) throw new Error(`the world answered ${answer.order} to ${kind}`);
    return answer as Extract<Answer, { order: K }>;
  } finally {
    exited.catch(() => undefined);
    ended.abort();
  }
};

/** It ends with this process at the latest. */
export const startWorld = async (shoots: number): Promise<WorldProcess> => {
  const child = fork(script, [String(shoots)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const { ready } = await nextAnswer(child, 'ready');
  return {
    ready,
    order: async (order) => {
      child.send(order);
      return (await nextAnswer(child, order)).at;
    },
    report: async () => {
      child.send('report');
      return (await nextAnswer(child, 'report')).report;
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
};
