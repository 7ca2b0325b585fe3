import type { Socket } from 'node:net';
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../../ports/clock.ts';
import { dial } from './dial.ts';
import { type Endpoint, authority } from './endpoint.ts';
import { Exchange, type ExchangeContext, type Outgoing } from './exchange.ts';
import type { Security } from './security.ts';
import { startTimeout } from './scope.ts';
import { WaitQueue } from './wait-queue.ts';

export interface PoolOptions {
  readonly endpoint: Endpoint;
  /**
   * Called before each exchange. Resolves with the same object as long as the settings are unchanged; a new one makes old connections drain. Rejects with
   * an ApiError.
   */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly clock: Clock;
  /** Maximum number of open connections; further exchanges queue. Default: no limit. */
  readonly maxConnections?: number;
  /** Timeout in milliseconds for TCP, proxy and TLS together. Default: 30 s, as in client-go's dialer, because a watch has no other timeout. */
  readonly connectTimeoutMs?: number;
}

/** kube-apiserver closes idle connections after 90 s. We close them earlier, so that no request is sent on a closing one. */
const idleMs = 60_000;
const defaultConnectTimeoutMs = 30_000;
const mostHeaderBytes = 16 * 1024;

const connectTimeout = (): Error => Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });

/** Closing a connection is the end of each probe, so the error is made once: most of its cost is the stack. */
const closedError = Object.assign(new Error('the connection is closed'), { code: 'ECLOSED' });

/**
 * A connection for one exchange at a time, which opens when the first exchange needs it. It is an undici Client that never gets a second request, so that
 * there is none to queue, to pipeline, or to send again: undici opens another connection only for a request of which nothing has been sent.
 */
export class Connection {
  readonly security: Security;
  readonly #options: PoolOptions;
  readonly #onChange: (connection: Connection, isOpen: boolean) => void;
  readonly #client: Client;
  readonly #end = new AbortController();
  #exchange: Exchange | undefined;

  /** Calls `onChange` when another exchange may use the connection, and once when it has ended. */
  constructor(security: Security, options: PoolOptions, onChange: (connection: Connection, isOpen: boolean) => void) {
    this.security = security;
    this.#options = options;
    this.#onChange = onChange;
    const { endpoint } = options;
    this.#client = new Client(`${endpoint.protocol}//${authority(endpoint)}`, {
      connect: (_to, callback) => void this.#connect(callback),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: mostHeaderBytes,
      // Timeouts of requests are on our clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
    });
    this.#client.on('disconnect', () => {
      if (this.#exchange === undefined) this.destroy();
    });
  }

  /** Sends a request. An abort or a failure, at any time until the response has arrived, closes the connection. */
  send(request: Outgoing, context: ExchangeContext): Exchange {
    const exchange = new Exchange(context, (isWhole) => {
      this.#exchange = undefined;
      if (isWhole) this.#onChange(this, true);
      else this.destroy();
    });
    this.#exchange = exchange;
    const { signal } = context.scope;
    if (signal.aborted) exchange.fail(signal.reason);
    else this.#client.dispatch(request, exchange);
    return exchange;
  }

  destroy(): void {
    if (this.#client.destroyed) return;
    this.#end.abort(closedError);
    void this.#client.destroy(closedError);
    this.#onChange(this, false);
  }

  async #connect(callback: (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void) {
    const { endpoint, clock, connectTimeoutMs = defaultConnectTimeoutMs } = this.#options;
    const cancel = startTimeout(clock, connectTimeoutMs, () => this.#exchange?.fail(connectTimeout()));
    try {
      const socket = await dial({ endpoint, security: this.security, signal: this.#end.signal, clock });
      callback(null, socket);
      let counted = socket.bytesRead;
      // After undici's own listener, which has parsed the bytes by then.
      socket.on('readable', () => {
        this.#exchange?.count(socket.bytesRead - counted);
        counted = socket.bytesRead;
      });
    } catch (error) {
      callback(error as Error, null);
    } finally {
      cancel();
    }
  }
}

/** The connections to one endpoint. Unlike undici's Pool, it aborts the opening of a connection with its request, and tells suspect connections from good ones. */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #open = new Set<Connection>();
  /** Idle connections, the most recently used one last. */
  readonly #idle = new Set<Connection>();
  readonly #waiting = new WaitQueue();
  #closed = false;
  #security: Security | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Lends a connection: an idle one if possible, or with `fresh` always a new one. Queues if too many are open. The connection returns to the pool by
   * itself when its exchange ends. Rejects with the signal's reason on abort.
   */
  async borrow({ signal, fresh }: { readonly signal: AbortSignal; readonly fresh: boolean }): Promise<Connection> {
    const { maxConnections = Number.POSITIVE_INFINITY } = this.#options;
    const security = await this.#options.security(signal);
    this.#security = security;
    try {
      while (true) {
        signal.throwIfAborted();
        if (this.#closed) throw closedError;
        const reused = fresh ? undefined : this.#takeIdle(security);
        if (reused !== undefined) return reused;
        if (this.#open.size < maxConnections) return this.#add(security);
        if (this.#idle.size > 0) this.discardIdle();
        else await this.#waiting.join(signal);
      }
    } catch (error) {
      // The place that it was woken for is free.
      this.#waiting.wakeOne();
      throw error;
    }
  }

  /** Closes all idle connections: after one reset the others are suspect. */
  discardIdle(): void {
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Closes all connections, those in use too. */
  close(): void {
    this.#closed = true;
    for (const connection of [...this.#open]) connection.destroy();
    this.#waiting.wakeAll();
  }

  #takeIdle(security: Security): Connection | undefined {
    for (const connection of [...this.#idle].reverse()) {
      this.#idle.delete(connection);
      if (connection.security === security) return connection;
      connection.destroy();
    }
    return undefined;
  }

  #add(security: Security): Connection {
    const added = new Connection(security, this.#options, (connection, isOpen) => {
      if (isOpen && connection.security !== this.#security) {
        connection.destroy();
        return;
      }
      if (isOpen) this.#idle.add(connection);
      else if (this.#open.delete(connection)) this.#idle.delete(connection);
      this.#waiting.wakeOne();
    });
    this.#open.add(added);
    return added;
  }
}
