import { constants, promises, type Stats } from 'node:fs';

/** Size limit in bytes, larger than any file that a command needs. */
const maxBytes = 4 * 1024 * 1024;

/** Returns an error with a message for users. In `ENOENT: no such file or directory, open 'x'`, this is the middle part. */
export const userError = (error: unknown): Error => {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return new Error(message, { cause: error });
  return new Error(message.slice(`${code}: `.length).split(`, ${syscall}`, 1).join(), { cause: error });
};

/** Reads a stream of UTF-8 text up to 4 MiB. Rejects with an error whose message is meant for users. */
export const readText = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, size] = ['', 0];
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new Error('it is not UTF-8 text', { cause: error }) : userError(error);
  }
};

const kindOf = (found: Stats): string => {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a FIFO (named pipe)';
  return found.isSocket() ? 'a socket' : 'a device';
};

const refuseUnlessRegular = (found: Stats): void => {
  if (!found.isFile()) throw new Error(`it is ${kindOf(found)}, not a regular file`);
};

/**
 * Reads a regular file of UTF-8 text up to 4 MiB, and follows symlinks. Rejects other kinds of files without waiting for them: opening a FIFO without
 * a writer would block forever, and the blocked program would not end on SIGTERM. Rejects with an error whose message is meant for users.
 */
export const readTextFile = async (path: string): Promise<string> => {
  try {
    // Checked before opening, because opening some devices has side effects.
    refuseUnlessRegular(await promises.stat(path));
    const file = await promises.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Checked again, because the file may have been replaced.
      refuseUnlessRegular(await file.stat());
      return await readText(file.createReadStream({ autoClose: false }));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw userError(error);
  }
};
