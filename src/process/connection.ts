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
 * A connection that carries one request, of bounded size and time. Node's parser would hand every request of a chunk to the handler in one turn, 3,000 of
 * them in 64 KB, so it receives the first one only when that is complete, and never another: a client that sends more is disconnected.
 */
export class AcceptedConnection {
  /** Waiting for its request, or answering it. */
  phase: 'waiting' | 'answering' = 'waiting';
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  #head: Buffer | undefined;
  #receivedBytes = 0;
  #takesMore = true;
  #stream: RequestStream | undefined;
  #cancelTimer: () => void;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#cancelTimer = this.#closeAfter(headMs);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#cancelTimer();
      this.#stream?.destroy();
    });
  }

  /** Closes the connection at once or, if a response is being made, soon. */
  stop(): void {
    if (this.#stream === undefined) this.#socket.destroy();
    this.#cancelTimer();
    this.#cancelTimer = this.#closeAfter(stopMs);
  }

  /** Closes the connection at once, by a reset: the kernel forgets it, and what the client has sent or not read. */
  close(): void {
    this.#socket.resetAndDestroy();
  }

  #closeAfter(ms: number): () => void {
    return this.#options.clock.timer(ms, () => this.close());
  }

  #receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (!this.#takesMore || this.#receivedBytes > mostBytes) this.close();
    else if (this.#stream === undefined) this.#receiveHead(chunk);
    else this.#stream.push(chunk);
  }

  #receiveHead(chunk: Buffer): void {
    const head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    this.#head = head;
    const end = head.indexOf(endOfHead);
    if (end < 0) return;
    const { takesBodies, http, onRequest } = this.#options;
    this.#takesMore = takesBodies && head.toString('latin1', 0, 5) === 'POST ';
    if (!this.#takesMore && end + endOfHead.length < head.length) {
      this.close();
      return;
    }
    this.#head = undefined;
    this.#cancelTimer();
    this.#cancelTimer = this.#closeAfter(responseMs);
    this.#stream = new RequestStream(this.#socket);
    this.phase = 'answering';
    onRequest();
    http.emit('connection', this.#stream);
    this.#stream.push(head);
  }
}
