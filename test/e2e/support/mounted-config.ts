import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A ConfigMap as the kubelet mounts it. */
export interface MountedConfig {
  /** What the program is told to read. */
  readonly file: string;
  /** Another content, all at once. */
  swap(text: string): void;
}

/**
 * The kubelet's AtomicWriter (`pkg/volume/util/atomic_writer.go`): the file is a symlink into `..data`, which is a symlink to a directory of
 * its own for each version; a rename replaces it, and the old directory goes.
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
