import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../ports/clock.ts';

/** Size limit of a request, which has no body, in bytes. */
const mostBytes = 16 * 1024;
/** Time in milliseconds for the head of a request to arrive, the first or the next one. */
export const headMs = 5_000;
/** Time in milliseconds for the response to be made and read. */
const responseMs = 10_000;
/** Time in milliseconds that a response still has when the server stops. */
const stopMs = 1_000;
const endOfHead = '\r\n\r\n';

export interface ConnectionOptions {
  readonly clock: Clock;
  /** Parses the request and emits it. */
  readonly http: Server;
  /** Called when the head of the request has arrived, before it is parsed. */
  readonly onRequest: () => void;
}

/** What Node's parser sees of a connection. */
class RequestStream extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    this.on('error', () => undefined);
  }

  override _read(): void {
    // Bytes are pushed as they arrive; their number is bounded.
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.destroySoon();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/**
 * A connection that carries one request at a time, each of bounded size and time. Node's parser would hand every request of a chunk to the handler in one
 * turn, 3,000 of them in 64 KB, so it receives one only when that is complete, and the next one after the response: a client that sends more is disconnected.
 */
export class AcceptedConnection {
  /** What Node's parser sees: the socket of a request. */
  readonly stream: Duplex;
  /** Waiting for a request, or answering it. */
  phase: 'waiting' | 'answering' = 'waiting';
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  #head: Buffer | undefined;
  #isStopping = false;
  #cancelTimer: () => void = () => undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.stream = new RequestStream(socket);
    this.#endAfter(headMs);
    options.http.emit('connection', this.stream);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#cancelTimer();
      this.stream.destroy();
    });
  }

  /** Closes the connection at once or, if a response is being made, after that, and soon. */
  stop(): void {
    if (this.phase === 'waiting') this.#socket.destroy();
    this.#isStopping = true;
    this.#endAfter(stopMs);
  }

  /** Closes the connection at once, by a reset: the kernel forgets it, and what the client has sent or not read. */
  close(): void {
    this.#socket.resetAndDestroy();
  }

  /** Called when a response is sent: waits for the next request. */
  answered(): void {
    if (this.#isStopping) {
      this.#socket.destroySoon();
      return;
    }
    this.phase = 'waiting';
    this.#endAfter(headMs);
  }

  /** Ends the connection after this time instead of an earlier one. A reset of an idle one would end `kubectl port-forward` (kubernetes/kubernetes#111825). */
  #endAfter(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.timer(ms, () => {
      if (this.phase === 'waiting') this.#socket.destroy();
      else this.close();
    });
  }

  #receive(chunk: Buffer): void {
    const head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(endOfHead);
    const isMore = end >= 0 && end + endOfHead.length < head.length;
    if (this.phase === 'answering' || isMore || head.length > mostBytes) {
      this.close();
      return;
    }
    this.#head = end < 0 ? head : undefined;
    if (end < 0) return;
    this.#endAfter(responseMs);
    this.phase = 'answering';
    this.#options.onRequest();
    this.stream.push(head);
  }
}
