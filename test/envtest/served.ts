import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A script in a process of its own that answers every order with one message, in order; `ready` comes unasked. */
export interface Served<Answer extends { readonly order: string }> {
  readonly pid: number;
  answer<K extends Answer['order']>(kind: K): Promise<Extract<Answer, { order: K }>>;
  order<K extends Answer['order']>(order: K): Promise<Extract<Answer, { order: K }>>;
  end(): Promise<void>;
}

const nextAnswer = async <Answer extends { readonly order: string }, K extends Answer['order']>(
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

/** It must not end before it is asked to, and ends with this process at the latest. */
export const startServed = <Answer extends { readonly order: string }>(
  script: URL,
  args: readonly string[],
): Served<Answer> => {
  const child = fork(fileURLToPath(script), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    pid: child.pid ?? -1,
    answer: (kind) => nextAnswer<Answer, typeof kind>(child, kind),
    order: async (order) => {
      child.send(order);
      return nextAnswer<Answer, typeof order>(child, order);
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
};
