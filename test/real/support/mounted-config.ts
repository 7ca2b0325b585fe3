import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A ConfigMap as the kubelet mounts it. */
export interface MountedConfig {
  /** Path that is passed to the program. */
  readonly file: string;
  /** Replaces the content atomically. */
  swap(text: string): void;
}

/**
 * Writes files as the kubelet's AtomicWriter does (`pkg/volume/util/atomic_writer.go`): the file is a symlink into `..data`, which is a
 * symlink to the directory of the current version. A rename replaces `..data`, and the old directory is removed.
 */
export const mountConfig = (directory: string, text: string): MountedConfig => {
  mkdirSync(directory);
  const data = join(directory, '..data');
  let versions = 0;
  const point = (content: string): void => {
    versions += 1;
    const version = `..version_${String(versions)}`;
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'config.yaml'), content);
    symlinkSync(version, `${data}_tmp`);
    renameSync(`${data}_tmp`, data);
  };
  point(text);
  const file = join(directory, 'config.yaml');
  symlinkSync(join('..data', 'config.yaml'), file);
  return {
    file,
    swap: (content) => {
      const former = readlinkSync(data);
      point(content);
      rmSync(join(directory, former), { recursive: true });
    },
  };
};
