import type { Socket } from 'node:net';
import { abortable } from './abortable.ts';

/** Creates the error of a failure that Node reports by an event without an error, or not at all. */
export const dialError = (code: string, message: string): Error => Object.assign(new Error(message), { code });

const ignore = (): void => undefined;

/** Settles when `socket` emits `event`, fails or closes; on abort destroys it and rejects with the signal's reason. */
export const established = <S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect' | 'readable',
  signal: AbortSignal,
): Promise<S> =>
  abortable(signal, (resolve, reject) => {
    const succeed = (): void => resolve(socket);
    const closed = (): void => reject(dialError('ECONNRESET', 'closed before it was established'));
    // Never removed: the failure of an idle connection is noticed by 'close', and must not be an uncaught error.
    if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
    socket.on(event, succeed).on('error', reject).on('close', closed);
    return (isEstablished) => {
      socket.off(event, succeed).off('error', reject).off('close', closed);
      if (!isEstablished) socket.destroy();
    };
  });
