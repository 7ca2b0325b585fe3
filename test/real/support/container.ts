import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readImageConfig } from '../../image/dockerfile.ts';
import { type Program, superviseProcess } from './program.ts';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** True if this process is root: only root may change the user, mount, and change the root directory. */
export const canStartContainers = process.getuid?.() === 0;

/** Contents of a volume's files by name, as in a ConfigMap or a projected volume. */
export type VolumeFiles = Readonly<Record<string, string>>;

/** A root file system: the files that the image adds to its base, the base, and the mounts of a kubelet. */
export interface Rootfs {
  readonly directory: string;
  /** Mounts files at a path, in place of earlier ones. */
  mount(path: string, files: VolumeFiles): void;
}

/** The C library is this machine's, so that no base image is pulled. */
const baseDirectories = ['usr/lib', 'usr/lib64'];
const mountPoints = [...baseDirectories, 'proc', 'dev', 'tmp'];

const assemble = (directory: string): void => {
  const node = fromRoot(`tools/node/node_modules/node-linux-${arch()}`);
  execFileSync(fromRoot('deploy/image/assemble.sh'), [node, directory]);
};

export const createRootfs = (directory: string): Rootfs => {
  assemble(directory);
  for (const path of mountPoints) mkdirSync(join(directory, path), { recursive: true });
  for (const link of ['lib', 'lib64']) symlinkSync(readlinkSync(`/${link}`), join(directory, link));
  return {
    directory,
    mount: (path, files) => {
      const volume = join(directory, path);
      mkdirSync(volume, { recursive: true });
      for (const [name, text] of Object.entries(files)) writeFileSync(join(volume, name), text, { mode: 0o644 });
    },
  };
};

/** Returns the paths below `directory` that are not owned by root or that other users may write. */
export const writableByOthers = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o022) !== 0 || statSync(path).uid !== 0);

/**
 * Runs in its own mount namespace. The new root is read-only, no privileges can be gained, all capabilities are dropped, and the process runs
 * as another user in /. Every step replaces the one before, so that signals reach the program.
 */
const script = `set -eu
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
for base in ${baseDirectories.join(' ')}; do
  if [ -d "/$base" ]; then mount --bind -o ro "/$base" "$root/$base"; fi
done
mount --bind /proc "$root/proc"
mount --bind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"`;

export interface ContainerOptions {
  readonly rootfs: Rootfs;
  readonly command: readonly string[];
  /** Variables in addition to the image's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The value that a distroless base sets. The tools that start the container are found by it, too. */
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Starts a process from the image, as a container runtime would for a pod with a read-only root file system, but on this machine's network. */
export const startContainer = ({ rootfs, command, env = {} }: ContainerOptions): Program => {
  const image = readImageConfig();
  const args = [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    script,
    'sh',
    rootfs.directory,
    image.user,
    ...command,
  ];
  return superviseProcess(
    spawn('unshare', args, {
      cwd: dirname(rootfs.directory),
      env: { PATH: path, ...image.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
};
