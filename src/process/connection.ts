import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../ports/clock.ts';

/** Size limit of a request with its headers, in bytes. */
const mostBytes = 16 * 1024;
/** Time limits in milliseconds: for the head of a request to arrive, and then for the response to be made and read. */
const [headMs, responseMs] = [5_000, 10_000];
/** Time in milliseconds that a response still has when the server stops. */
const stopMs = 1_000;
const endOfHead = '\r\n\r\n';

export interface ConnectionOptions {
  readonly clock: Clock;
  /** Parses the request and emits it. */
  readonly http: Server;
  /** True if a POST may have a body. */
  readonly takesBodies: boolean;
}

/**
 * A connection that carries one request, of bounded size and time. Node's parser would hand every request of a chunk to the handler in one turn, 3,000 of
 * them in 64 KB, so it receives the first one only when that is complete, and never another: a client that sends more is disconnected.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  #head = Buffer.alloc(0);
  #receivedBytes = 0;
  #takesMore = true;
  #hasRequest = false;
  #cancelTimer: () => void;

  constructor(socket: Socket, options: ConnectionOptions) {
    super();
    this.#socket = socket;
    this.#options = options;
    this.#cancelTimer = this.#closeAfter(headMs);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The client's end of the connection; what it has asked for is not worth keeping.
    socket.once('close', () => this.destroy());
    for (const end of [socket, this]) end.on('error', () => undefined);
  }

  /** Lets the response take as long as the client stays. */
  keepOpen(): void {
    this.#cancelTimer();
  }

  /** Closes the connection at once or, if a response is being made, soon. */
  stop(): void {
    if (!this.#hasRequest) this.destroy();
    this.#cancelTimer();
    this.#cancelTimer = this.#closeAfter(stopMs);
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
    this.#cancelTimer();
    this.#socket.destroy();
    done(error);
  }

  #closeAfter(ms: number): () => void {
    return this.#options.clock.timer(ms, () => this.destroy());
  }

  #receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (!this.#takesMore || this.#receivedBytes > mostBytes) this.destroy();
    else if (this.#hasRequest) this.push(chunk);
    else this.#receiveHead(chunk);
  }

  #receiveHead(chunk: Buffer): void {
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf(endOfHead);
    if (end < 0) return;
    this.#takesMore = this.#options.takesBodies && this.#head.toString('latin1', 0, 5) === 'POST ';
    if (!this.#takesMore && end + endOfHead.length < this.#head.length) {
      this.destroy();
      return;
    }
    this.#hasRequest = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#closeAfter(responseMs);
    this.#options.http.emit('connection', this);
    this.push(this.#head);
  }
}
