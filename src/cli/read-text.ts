import { createReadStream } from 'node:fs';
import { UnfitFileError, readRegularFile } from '../kubernetes/kubeconfig/index.ts';

/** Size limit, larger than any file that a command needs. */
const maxMiB = 4;

/** Returns an error with a message for users. In `ENOENT: no such file or directory, open 'x'`, this is the middle part. */
const userError = (error: unknown): Error => {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return new Error(message, { cause: error });
  return new Error(message.slice(`${code}: `.length).split(`, ${syscall}`, 1).join(), { cause: error });
};

/** Reads a stream of UTF-8 text up to 4 MiB. Rejects with an error whose message is meant for users. */
export const readText = async (stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, size] = ['', 0];
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > maxMiB * 1024 * 1024) throw new Error(`it is larger than ${maxMiB} MiB`);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new Error('it is not UTF-8 text', { cause: error }) : userError(error);
  }
};

/** Reads a regular file of UTF-8 text up to 4 MiB, and follows symlinks. Rejects with an error whose message is meant for users. */
export const readTextFile = async (path: string): Promise<string> => {
  try {
    return await readText([await readRegularFile(path, maxMiB)]);
  } catch (error) {
    throw error instanceof UnfitFileError ? new Error(`it ${error.message}`, { cause: error }) : userError(error);
  }
};

const openDescriptor = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;

/** Reads a path as `readFile` does, except for descriptors that the caller of this process has opened, which are read to their end. */
export const readInput = async (path: string, readFile: (path: string) => Promise<string>): Promise<string> => {
  const descriptor = Number(path === '/dev/stdin' ? 0 : (openDescriptor.exec(path)?.[1] ?? Number.NaN));
  if (Number.isNaN(descriptor)) return readFile(path);
  return descriptor === 0 ? readFile('-') : readText(createReadStream('', { fd: descriptor, autoClose: false }));
};
