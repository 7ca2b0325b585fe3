import { type Stats, constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/** A file of a kind or a size that is not read. The message is a predicate, such as `is a directory, not a regular file`. */
export class UnfitFileError extends Error {
  override readonly name = 'UnfitFileError';
}

const kindOf = (found: Stats): string => {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a FIFO (named pipe)';
  return found.isSocket() ? 'a socket' : 'a device';
};

const refuseUnlessRegular = (found: Stats): void => {
  if (!found.isFile()) throw new UnfitFileError(`is ${kindOf(found)}, not a regular file`);
};

const mebibyte = 1024 * 1024;

/**
 * Reads a regular file, and follows symlinks. Rejects other kinds of files without waiting for them: opening a FIFO without a writer would block forever, and
 * the blocked program would not end on SIGTERM. Rejects with an UnfitFileError or Node's error (`code` ENOENT and so on).
 */
export const readRegularFile = async (path: string, mostMiB: number): Promise<Buffer> => {
  // Checked before opening, because opening some devices has side effects.
  refuseUnlessRegular(await stat(path));
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // Checked again, because the file may have been replaced.
    refuseUnlessRegular(await file.stat());
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostMiB * mebibyte) throw new UnfitFileError(`is larger than ${String(mostMiB)} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
};
