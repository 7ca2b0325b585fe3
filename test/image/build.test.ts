import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../doubles/temporary-directory.ts';

const script = fileURLToPath(new URL('../../deploy/image/build.sh', import.meta.url));

it('names the builders if none is usable, and the target that needs none', () => {
  const directory = temporaryDirectory();
  for (const tool of ['sh', 'dirname', 'cat']) symlinkSync(`/usr/bin/${tool}`, join(directory, tool));
  const env = { PATH: directory };
  const { status, stderr } = spawnSync(script, ['name:tag', 'linux/amd64'], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toBe(`make image needs docker, podman or buildah, and none of them can be used here:
  docker   is not installed
  podman   is not installed
  buildah  is not installed
\`make image-tree\` assembles what the image holds without any of them.
`);
});
