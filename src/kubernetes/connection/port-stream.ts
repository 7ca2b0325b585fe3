import { Duplex } from 'node:stream';
import { WebsocketFrameSend } from '../transport/index.ts';

/** Opcodes of RFC 6455, section 5.2. */
const opcodes = { continuation: 0, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Channels of the one port (`handleWebSocketStreams` of k8s.io/kubelet). The first message of each is the number of the port, in two bytes. */
const channels = { data: 0, error: 1 } as const;
const portBytes = 2;

/** Bits of the second byte of a frame, and the lengths that two or eight more bytes hold. */
const maskBit = 0x80;
const [length16, length64] = [126, 127];
const mostControlBytes = 125;
const mostErrorBytes = 1_000;

/** Returns a frame, masked as every frame of a client (RFC 6455, section 5.3). */
const frameOf = (opcode: number, payload?: Buffer): Buffer => new WebsocketFrameSend(payload).createFrame(opcode);

/** The end of a WebSocket. */
export const closeFrame = (): Buffer => frameOf(opcodes.close);

interface Frame {
  readonly opcode: number;
  /** Payload bytes that have not arrived yet. */
  rest: number;
}

/** The bytes of a pod's port, over the WebSocket that `openTunnel` has opened. It keeps no payload: a frame may be of any length. */
export class PortStream extends Duplex {
  readonly #socket: Duplex;
  #unread = Buffer.alloc(0);
  #frame: Frame | undefined;
  /** Channel of the present message; undefined at its start. */
  #channel: number | undefined;
  /** Bytes of port numbers that still precede the data and the errors. */
  readonly #ahead = [portBytes, portBytes];

  constructor(socket: Duplex) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      try {
        this.#take(chunk);
      } catch (error) {
        this.destroy(error as Error);
      }
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.push(null));
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(frameOf(opcodes.binary, Buffer.concat([Buffer.from([channels.data]), chunk])), done);
  }

  override _final(done: () => void): void {
    if (this.#socket.writable) this.#socket.end(closeFrame());
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    while (true) {
      this.#frame ??= this.#begin();
      const frame = this.#frame;
      if (frame === undefined) return;
      const isControl = frame.opcode >= opcodes.close;
      if (this.#unread.length < (isControl ? frame.rest : Math.min(1, frame.rest))) return;
      const payload = this.#unread.subarray(0, frame.rest);
      this.#unread = this.#unread.subarray(payload.length);
      frame.rest -= payload.length;
      if (isControl) this.#obey(frame.opcode, payload);
      else this.#receive(payload);
      if (frame.rest === 0) this.#frame = undefined;
    }
  }

  /** Parses the head of a frame; undefined if it has not arrived. */
  #begin(): Frame | undefined {
    const [first = 0, second = 0] = this.#unread;
    const short = second & ~maskBit;
    const headBytes = short === length64 ? 10 : short === length16 ? 4 : 2;
    if (this.#unread.length < headBytes) return undefined;
    const rest =
      short === length64
        ? Number(this.#unread.readBigUInt64BE(2))
        : short === length16
          ? this.#unread.readUInt16BE(2)
          : short;
    const opcode = first & 0x0f;
    if ((second & maskBit) !== 0) throw new Error('the WebSocket of the port is malformed: a masked frame');
    if (opcode >= opcodes.close && rest > mostControlBytes) {
      throw new Error('the WebSocket of the port is malformed: a long control frame');
    }
    this.#unread = this.#unread.subarray(headBytes);
    if (opcode < opcodes.close && opcode !== opcodes.continuation) this.#channel = undefined;
    return { opcode, rest };
  }

  #obey(opcode: number, payload: Buffer): void {
    // A peer that pings and does not read gets no more answers: they would fill the memory.
    if (opcode === opcodes.ping && !this.#socket.writableNeedDrain) {
      this.#socket.write(frameOf(opcodes.pong, payload));
    }
    if (opcode === opcodes.close) this.#socket.end();
  }

  #receive(payload: Buffer): void {
    const isStart = this.#channel === undefined;
    this.#channel ??= payload[0];
    const channel = this.#channel;
    if (channel === undefined) return;
    const bytes = payload.subarray(isStart ? 1 : 0);
    const ahead = Math.min(this.#ahead[channel] ?? 0, bytes.length);
    this.#ahead[channel] = (this.#ahead[channel] ?? 0) - ahead;
    const content = bytes.subarray(ahead);
    if (content.length === 0) return;
    if (channel === channels.data && !this.push(content)) this.#socket.pause();
    if (channel === channels.error) this.destroy(new Error(content.toString().slice(0, mostErrorBytes)));
  }
}
