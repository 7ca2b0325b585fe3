import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AnswerError } from './answer-error.ts';

/** What of an answer costs CPU without being body: heads, interim answers, the frames of chunks. */
export interface Traffic {
  /** To be told of each piece of the body that is handed on. */
  readonly deliver: (bytes: number) => void;
  /** Why the connection was ended. */
  readonly problem: () => AnswerError | undefined;
}

/** Go's `net/http` takes five (`max1xxResponses`). */
const mostInterim = 5;
/** Node's own limit for a head is 16 KB; what comes before it, such as empty lines, has none. */
const mostHeadBytes = 64 * 1024;
/** An honest server frames chunks of kilobytes; one of a single byte takes six. */
const [mostBytesPerByte, freeBytes] = [4, 64 * 1024];

/**
 * Watches what comes in for a request, and calls `refuse` when it is out of all proportion. After each read of the socket, because Node reads on, up to 2 MB, before anything else
 * has its turn.
 */
export const watchTraffic = (request: ClientRequest, refuse: () => void): Traffic => {
  let response: IncomingMessage | undefined;
  let received = 0;
  let delivered = 0;
  let interim = 0;
  let problem: AnswerError | undefined;
  const end = (reason: string): void => {
    problem ??= new AnswerError(reason);
    refuse();
  };
  const count = (chunk: Uint8Array): void => {
    received += chunk.length;
    if (response === undefined) {
      if (received > mostHeadBytes) end(`no answer within ${String(mostHeadBytes)} bytes`);
    } else if (received > mostBytesPerByte * (delivered + response.readableLength) + mostHeadBytes + freeBytes) {
      end('the answer comes in pieces that are too small');
    }
  };
  const follow = (socket: Socket): void => {
    // Behind Node's own listener, which has parsed the bytes by then.
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
