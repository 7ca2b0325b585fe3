import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readDockerfile, readImageConfig } from './dockerfile.ts';

const instructions = readDockerfile();
const contentsOf = (wanted: string): readonly string[] =>
  instructions.filter(({ keyword }) => keyword === wanted).map(({ content }) => content);

/** The rules that matter here. hadolint has more, but is not packaged for npm or Debian. */
describe('the Dockerfile', () => {
  it('pins every base by tag and digest', () => {
    expect(contentsOf('FROM')).toHaveLength(2);
    for (const base of contentsOf('FROM')) {
      expect(base).toMatch(/^(--platform=\$BUILDPLATFORM )?[a-z0-9./-]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}( AS build)?$/);
    }
  });

  it('runs the program as a numeric user, which runAsNonRoot requires', () => {
    expect(readImageConfig()).toEqual({
      user: '65532:65532',
      entrypoint: ['/usr/local/bin/dwd'],
      env: { NODE_OPTIONS: '--max-semi-space-size=8', MALLOC_ARENA_MAX: '1', UV_THREADPOOL_SIZE: '64' },
    });
  });

  it('fetches only packages of the lock files', () => {
    expect(contentsOf('ADD')).toEqual([]);
    for (const command of contentsOf('RUN')) expect(command).not.toMatch(/curl|wget|apt-get|npx|https?:/);
    expect(contentsOf('RUN').filter((command) => command.includes('npm ci'))).toHaveLength(2);
  });

  it('uses the same Node version on all platforms', () => {
    const { optionalDependencies } = JSON.parse(
      readFileSync(new URL('../../tools/node/package.json', import.meta.url), 'utf8'),
    ) as { readonly optionalDependencies: Readonly<Record<string, string>> };
    const [amd64, arm64] = ['x64', 'arm64'].map((cpu) => optionalDependencies[`node-linux-${cpu}`]);
    expect(amd64).toMatch(/^\d+\.\d+\.\d+$/);
    expect(arm64).toBe(amd64);
  });
});
