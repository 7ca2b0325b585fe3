import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../ports/clock.ts';
import { dial } from './dial.ts';
import type { Endpoint } from './endpoint.ts';
import { type Scope, createScope } from './scope.ts';
import type { Security } from './security.ts';
import { WaitQueue } from './wait-queue.ts';

/** One open connection, lent to one exchange at a time. */
export interface Connection {
  /** Agent with this one socket; it decides by the rules of HTTP if the socket can be used for another exchange. */
  readonly agent: Agent;
  /** Ends the connection. May be called again. */
  destroy(): void;
}

export interface PoolOptions {
  readonly endpoint: Endpoint;
  /** Resolves with the current TLS settings; a connection with other settings is closed when its exchange ends. */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly clock: Clock;
  /** Maximum number of open connections; further exchanges queue. */
  readonly maxConnections: number;
  /** Time in milliseconds for which an unused connection is kept. */
  readonly idleMs: number;
  /** Timeout in milliseconds for TCP, proxy and TLS together. Default: 30 s, as in client-go's dialer, because a watch has no other timeout. */
  readonly connectTimeoutMs?: number;
}

interface Idle {
  readonly security: Security;
  /** Cancels the timer that ends it. */
  readonly cancel: () => void;
}

const defaultConnectTimeoutMs = 30_000;

const connectTimeout = (): Error => Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });

const closedError = (): Error => Object.assign(new Error('the connection pool is closed'), { code: 'ECLOSED' });

/** A pool of Agents with one socket each, because Node's Agent can neither abort a connection that is being opened nor distinguish stale ones from new ones. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #open = new Set<Connection>();
  /** Idle connections, the most recently used one last. */
  readonly #idle = new Map<Connection, Idle>();
  readonly #dialing = new Set<Scope>();
  readonly #waiting = new WaitQueue();
  #closed = false;
  #security: Security | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Lends a connection: an idle one if possible, or with `fresh` always a new one. Queues if too many are open. The connection returns to the pool by
   * itself when its exchange ends. Rejects with Node's error, and with the signal's reason on abort.
   */
  async borrow({ signal, fresh }: { readonly signal: AbortSignal; readonly fresh: boolean }): Promise<Connection> {
    const security = await this.#options.security(signal);
    this.#security = security;
    try {
      while (true) {
        signal.throwIfAborted();
        if (this.#closed) throw closedError();
        const reused = fresh ? undefined : this.#takeIdle(security);
        if (reused !== undefined) return reused;
        if (this.#open.size + this.#dialing.size < this.#options.maxConnections) {
          return await this.#connect(security, signal);
        }
        if (this.#idle.size > 0) this.discardIdle();
        await this.#waiting.join(signal);
      }
    } catch (error) {
      // The place that it took, or was woken for, is free.
      this.#waiting.wakeOne();
      throw error;
    }
  }

  /** Closes all idle connections: after one reset the others are suspect. */
  discardIdle(): void {
    for (const connection of [...this.#idle.keys()]) this.#discard(connection);
  }

  /** Closes all connections, those in use too. */
  close(): void {
    this.#closed = true;
    for (const attempt of [...this.#dialing]) attempt.fail(closedError());
    for (const connection of [...this.#open]) connection.destroy();
    this.#waiting.wakeAll();
  }

  #takeIdle(security: Security): Connection | undefined {
    for (const [connection, idle] of [...this.#idle].reverse()) {
      this.#forgetIdle(connection);
      if (idle.security === security) return connection;
      connection.destroy();
    }
    return undefined;
  }

  #forgetIdle(connection: Connection): void {
    this.#idle.get(connection)?.cancel();
    this.#idle.delete(connection);
  }

  /** Removes the connection from the list at once, because a socket reports its end only later. */
  #discard(connection: Connection): void {
    this.#forgetIdle(connection);
    connection.destroy();
  }

  async #connect(security: Security, signal: AbortSignal): Promise<Connection> {
    const { endpoint, clock, connectTimeoutMs: timeoutMs = defaultConnectTimeoutMs } = this.#options;
    const attempt = createScope({ signal, clock, timeoutMs, onTimeout: connectTimeout });
    this.#dialing.add(attempt);
    try {
      return this.#adopt(await dial({ endpoint, security, signal: attempt.signal }), security);
    } finally {
      attempt.end();
      this.#dialing.delete(attempt);
    }
  }

  #adopt(socket: Socket, security: Security): Connection {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connection: Connection = { agent, destroy: () => void socket.destroy() };
    agent.createConnection = () => socket;
    // By Node's documentation it returns true to keep the socket; the types lack that.
    const keepSocketAlive = agent.keepSocketAlive.bind(agent) as (stream: Duplex) => boolean;
    agent.keepSocketAlive = (stream): boolean => {
      const kept = keepSocketAlive(stream);
      // Later, because at this point the Agent has not yet taken the socket back.
      if (kept) queueMicrotask(() => this.#takeBack(connection, security));
      return kept;
    };
    this.#open.add(connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      this.#forgetIdle(connection);
      this.#waiting.wakeOne();
    });
    return connection;
  }

  #takeBack(connection: Connection, security: Security): void {
    if (!this.#open.has(connection)) return;
    if (this.#closed || security !== this.#security) {
      connection.destroy();
      return;
    }
    const { clock, idleMs } = this.#options;
    this.#idle.set(connection, { security, cancel: clock.timer(idleMs, () => this.#discard(connection)) });
    this.#waiting.wakeOne();
  }
}
