import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../ports/clock.ts';
import { dial } from './dial.ts';
import type { Endpoint } from './endpoint.ts';
import { type Scope, createScope } from './scope.ts';
import type { Security } from './security.ts';

/** One open connection, leased to one exchange at a time. */
export interface Connection {
  /** Hands out this one socket; knows from HTTP's rules whether it can carry another exchange. */
  readonly agent: Agent;
  /** Ends the connection. Harmless when it has ended. */
  destroy(): void;
}

export interface PoolOptions {
  readonly endpoint: Endpoint;
  /** The settings of now; a connection made under others is closed when its exchange ends. */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly clock: Clock;
  /** Connections open at the same time; further exchanges queue. */
  readonly maxConnections: number;
  /** How long an unused connection is kept. */
  readonly idleMs: number;
  /** Milliseconds for TCP, proxy and TLS together. Default: 30 s as client-go's dialer; keeps a watch, which has no deadline, from hanging unconnected. */
  readonly connectTimeoutMs?: number | undefined;
}

export interface ConnectionPool {
  /**
   * Leases a connection: an idle one, or with `fresh` a new one. Queues when too many are open. It comes back by itself when its exchange
   * ends. Rejects with Node's error, and with the signal's reason on abort.
   */
  acquire(options: { readonly signal: AbortSignal; readonly fresh: boolean }): Promise<Connection>;
  /** Closes what is idle: after one reset the others are suspect. */
  discardIdle(): void;
  /** Closes all connections, those in use too. */
  close(): void;
}

interface Waiter {
  readonly wake: () => void;
}

interface Idle {
  readonly connection: Connection;
  readonly security: Security;
  readonly forget: () => void;
}

const defaultConnectTimeoutMs = 30_000;

const connectTimeout = (): Error => Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });

const closedError = (): Error => Object.assign(new Error('the connection pool is closed'), { code: 'ECLOSED' });

/** Node's Agent cannot abort a connection it is making, nor tell a stale one from a fresh one: hence a pool of Agents with one socket each. */
export const createConnectionPool = (options: PoolOptions): ConnectionPool => {
  const { endpoint, clock, maxConnections, idleMs, connectTimeoutMs = defaultConnectTimeoutMs } = options;
  const open = new Set<Connection>();
  const idle: Idle[] = [];
  const waiters = new Set<Waiter>();
  const dialing = new Set<Scope>();
  let closed = false;
  let latest: Security | undefined;

  const wakeOne = (): void => {
    const [first] = waiters;
    first?.wake();
  };

  /** Out of the list at once: a socket tells of its end only later. */
  const discard = (entry: Idle): void => {
    entry.forget();
    entry.connection.destroy();
  };

  const discardIdle = (): void => {
    for (const entry of [...idle]) discard(entry);
  };

  const release = (connection: Connection, security: Security): void => {
    if (!open.has(connection)) return;
    if (closed || security !== latest) {
      connection.destroy();
      return;
    }
    const cancel = clock.timer(idleMs, () => discard(entry));
    const entry: Idle = {
      connection,
      security,
      forget: () => {
        cancel();
        const index = idle.indexOf(entry);
        if (index >= 0) idle.splice(index, 1);
      },
    };
    idle.push(entry);
    wakeOne();
  };

  const adopt = (socket: Socket, security: Security): Connection => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connection: Connection = { agent, destroy: () => void socket.destroy() };
    agent.createConnection = () => socket;
    // The documentation of Node has it return whether to keep the socket; its types do not know.
    const keepSocketAlive = agent.keepSocketAlive.bind(agent) as (stream: Duplex) => boolean;
    agent.keepSocketAlive = (stream): boolean => {
      const kept = keepSocketAlive(stream);
      // Later, because at this point the Agent has not yet taken the socket back.
      if (kept) queueMicrotask(() => release(connection, security));
      return kept;
    };
    open.add(connection);
    socket.once('close', () => {
      open.delete(connection);
      idle.find((entry) => entry.connection === connection)?.forget();
      wakeOne();
    });
    return connection;
  };

  const takeIdle = (security: Security): Connection | undefined => {
    for (const entry of [...idle].reverse()) {
      entry.forget();
      if (entry.security === security) return entry.connection;
      entry.connection.destroy();
    }
    return undefined;
  };

  const connect = async (security: Security, signal: AbortSignal): Promise<Connection> => {
    const attempt = createScope({ signal, clock, timeoutMs: connectTimeoutMs, onTimeout: connectTimeout });
    dialing.add(attempt);
    try {
      return adopt(await dial({ endpoint, security, signal: attempt.signal }), security);
    } finally {
      attempt.end();
      dialing.delete(attempt);
    }
  };

  /** Resolves when a connection may have become free. */
  const wait = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiters.delete(waiter);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        wake: () => {
          leave();
          resolve();
        },
      };
      waiters.add(waiter);
      signal.addEventListener('abort', abort);
    });

  const lease = async (security: Security, fresh: boolean, signal: AbortSignal): Promise<Connection> => {
    while (true) {
      signal.throwIfAborted();
      if (closed) throw closedError();
      const reused = fresh ? undefined : takeIdle(security);
      if (reused !== undefined) return reused;
      if (open.size + dialing.size < maxConnections) return connect(security, signal);
      if (idle.length > 0) discardIdle();
      await wait(signal);
    }
  };

  const acquire: ConnectionPool['acquire'] = async ({ signal, fresh }) => {
    const security = await options.security(signal);
    latest = security;
    try {
      return await lease(security, fresh, signal);
    } catch (error) {
      // The place it had, or was woken for, is free.
      wakeOne();
      throw error;
    }
  };

  const close = (): void => {
    closed = true;
    for (const attempt of [...dialing]) attempt.fail(closedError());
    for (const connection of [...open]) connection.destroy();
    for (const waiter of [...waiters]) waiter.wake();
  };

  return { acquire, discardIdle, close };
};
