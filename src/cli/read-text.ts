import { constants, promises, type Stats } from 'node:fs';

/** More than any file that a command reads. */
const maxBytes = 4 * 1024 * 1024;

/** An error of the file system for people: `ENOENT: no such file or directory, open 'x'` says in its middle what they understand. */
export const inWords = (error: unknown): Error => {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return new Error(message, { cause: error });
  return new Error(message.slice(`${code}: `.length).split(`, ${syscall}`, 1).join(), { cause: error });
};

/** Collects a stream of UTF-8 up to 4 MiB. Rejects with an error whose message says why in words. */
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
    throw error instanceof TypeError ? new Error('it is not UTF-8 text', { cause: error }) : inWords(error);
  }
};

const kindOf = (found: Stats): string => {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a FIFO (named pipe)';
  return found.isSocket() ? 'a socket' : 'a device';
};

const refuseUnlessRegular = (found: Stats): void => {
  if (!found.isFile()) throw new Error(`it is ${kindOf(found)}, and only a regular file is read`);
};

/**
 * Reads a regular file of UTF-8 text up to 4 MiB, by way of symlinks. Anything else is refused and not waited for: to open a FIFO that nobody
 * writes to would take for ever, and a program that waits for it does not end on SIGTERM. Rejects with an error whose message says why in words.
 */
export const readTextFile = async (path: string): Promise<string> => {
  try {
    // Before it is opened, because that alone has effects on some devices.
    refuseUnlessRegular(await promises.stat(path));
    const file = await promises.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Again: it may have been replaced since.
      refuseUnlessRegular(await file.stat());
      return await readText(file.createReadStream({ autoClose: false }));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw inWords(error);
  }
};
