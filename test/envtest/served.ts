import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The script's response to each order, by the order's name. `ready` is not an order: the script sends it once, when it has started. */
export interface Answers {
  readonly ready: unknown;
}

/** A script in its own process that responds to every order with one message, in order. */
export interface Served<A extends Answers> {
  readonly pid: number;
  /** Resolves when the script has started. Call it before the first order. */
  ready(): Promise<A['ready']>;
  order<K extends keyof A>(order: K): Promise<A[K]>;
  end(): Promise<void>;
}

interface Message {
  readonly order: PropertyKey;
  readonly answer: unknown;
}

const nextAnswer = async (child: ChildProcess, order: PropertyKey): Promise<unknown> => {
  const ended = new AbortController();
  const exited = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`the process that serves the world ended with ${String(code)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [Message];
    if (message.order !== order) throw new Error(`the world answered ${String(message.order)} to ${String(order)}`);
    return message.answer;
  } finally {
    exited.catch(() => undefined);
    ended.abort();
  }
};

/** Starts a script in its own process, with `args` as JSON. The script must not end before `end` is called, and ends with this process at the latest. */
export const startServed = <A extends Answers>(script: URL, args?: unknown): Served<A> => {
  const child = fork(fileURLToPath(script), [JSON.stringify(args ?? null)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    pid: child.pid ?? -1,
    ready: () => nextAnswer(child, 'ready'),
    order: (order) => {
      child.send(order as string);
      return nextAnswer(child, order) as Promise<A[typeof order]>;
    },
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
};

/** Returns, in the script, the `args` of `startServed`. */
export const servedArgs = (): unknown => JSON.parse(process.argv[2] ?? 'null');

/** Runs in the script: sends `ready`, responds to orders from now on, and ends the script with the process that started it. */
export const answerOrders = <A extends Answers>(
  ready: A['ready'],
  orders: { readonly [K in Exclude<keyof A, 'ready'>]: () => A[K] | Promise<A[K]> },
): void => {
  const send = (order: PropertyKey, answer: unknown): void => void process.send?.({ order, answer });
  process.on('message', (order: Exclude<keyof A, 'ready'>) => {
    void Promise.resolve(orders[order]()).then((answer) => send(order, answer));
  });
  process.once('disconnect', () => process.exit());
  send('ready', ready);
};
