import { readFile, stat } from 'node:fs/promises';

/** What is needed of a file system. */
export interface Files {
  /** The whole file as UTF-8. Rejects with Node's error (`code` ENOENT and so on). */
  read(path: string): Promise<string>;
  /** A text that differs after every change of the file. Rejects like `read`. */
  stamp(path: string): Promise<string>;
}

export const systemFiles = (): Files => ({
  read: (path) => readFile(path, 'utf8'),
  stamp: async (path) => {
    // Kubernetes replaces the files of a mounted Secret by pointing a symbolic link elsewhere: another inode, perhaps the same time.
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  },
});

/** True for "there is no such file", also where a part of the path is no directory. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** Why a file cannot be read, in words. */
export const whyUnreadable = (error: unknown): string => {
  if (isMissing(error)) return 'does not exist';
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
  return code === 'EACCES' || code === 'EPERM' ? 'may not be read by this process' : `cannot be read (${code})`;
};
