import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binaryNames, findBinaries } from './binaries.ts';

const directory = mkdtempSync(join(tmpdir(), 'dwd-gate-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('finding the binaries', () => {
  it('names the binaries that KUBEBUILDER_ASSETS lacks', () => {
    for (const name of binaryNames) writeFileSync(join(directory, name), '', { mode: 0o755 });
    expect(findBinaries({ KUBEBUILDER_ASSETS: directory })).toMatchObject({ ok: true, directory });
    rmSync(join(directory, 'etcd'));
    writeFileSync(join(directory, 'kubectl'), '');
    const found = findBinaries({ KUBEBUILDER_ASSETS: directory });
    expect(found).toMatchObject({ ok: false, missing: ['etcd'], remedy: 'correct or unset KUBEBUILDER_ASSETS' });
  });

  it('searches the cache if KUBEBUILDER_ASSETS is not set', () => {
    const found = findBinaries({ XDG_CACHE_HOME: directory });
    expect(found.directory).toMatch(/\/dependency-watchdog\/envtest\/v1\.\d+\.\d+-v3\.\d+\.\d+-\w+-\w+$/);
    expect(found).toMatchObject({ ok: false, missing: [...binaryNames], remedy: 'run `make envtest`' });
  });
});
