import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ResponseError } from './response-error.ts';

/** Limits the parts of a response that cost CPU without being body: heads, interim responses, the framing of chunks. */
export interface Traffic {
  /** Counts a chunk of the body that was passed on; call it for each. */
  readonly deliver: (bytes: number) => void;
  /** Returns why the connection was ended; undefined if it was not. */
  readonly problem: () => ResponseError | undefined;
}

/** Maximum number of interim responses, as in Go's `net/http` (`max1xxResponses`). */
const mostInterim = 5;
/** Limit for the head and everything before it, such as empty lines. Node limits only the head itself, to 16 KB. */
const mostHeadBytes = 64 * 1024;
/** Limit of received bytes per byte of the body. An honest server sends chunks of kilobytes; a chunk of one byte takes six. */
const [mostBytesPerByte, freeBytes] = [4, 64 * 1024];

/**
 * Watches the bytes that arrive for a request, and calls `refuse` when they exceed the limits. It checks after each read of the socket, because Node reads up
 * to 2 MB before other work gets its turn.
 */
export const watchTraffic = (request: ClientRequest, refuse: () => void): Traffic => {
  let response: IncomingMessage | undefined;
  let received = 0;
  let delivered = 0;
  let interim = 0;
  let problem: ResponseError | undefined;
  const end = (reason: string): void => {
    problem ??= new ResponseError(reason);
    refuse();
  };
  const count = (chunk: Uint8Array): void => {
    received += chunk.length;
    if (response === undefined) {
      if (received > mostHeadBytes) end(`no response within ${String(mostHeadBytes)} bytes`);
    } else if (received > mostBytesPerByte * (delivered + response.readableLength) + mostHeadBytes + freeBytes) {
      end('the answer comes in pieces that are too small');
    }
  };
  const follow = (socket: Socket): void => {
    // Runs after Node's own listener, which has parsed the bytes by then.
    socket.on('data', count);
    request.once('close', () => socket.off('data', count));
  };
  request.once('socket', follow);
  request.once('response', (incoming) => {
    response = incoming;
  });
  request.on('information', () => {
    interim += 1;
    if (interim > mostInterim) end(`more than ${String(mostInterim)} interim answers (1xx)`);
  });
  return {
    deliver: (bytes) => {
      delivered += bytes;
    },
    problem: () => problem,
  };
};
