import { describe, it } from 'vitest';
import { type BinariesResult, describeMissing, findBinaries } from './binaries.ts';

export type EnvtestGate =
  | { readonly kind: 'run' }
  | { readonly kind: 'skip'; readonly line: string }
  | { readonly kind: 'fail'; readonly line: string };

/** Decides for a run, a skip or a failure. Missing binaries skip the tests on a developer's machine and fail in CI, where a skip would stay unnoticed. */
export function decideGate(found: BinariesResult, ci: boolean): EnvtestGate {
  if (found.ok) return { kind: 'run' };
  const line = describeMissing(found);
  return ci ? { kind: 'fail', line } : { kind: 'skip', line: `skipped: ${line}` };
}

/**
 * `describe` for tests that need a real API server. Without the binaries, it prints one line and skips the tests, or, if `CI` is set
 * (and not `false`), fails.
 */
export function describeEnvtest(name: string, tests: () => void): void {
  const ci = process.env.CI;
  const gate = decideGate(findBinaries(), ci !== undefined && ci !== '' && ci !== 'false');
  switch (gate.kind) {
    case 'run':
      describe(name, tests);
      return;
    case 'skip':
      process.stderr.write(`${name}: ${gate.line}\n`);
      describe.skip(name, tests);
      return;
    case 'fail':
      describe(name, () => {
        it('has a real API server', () => {
          throw new Error(gate.line);
        });
      });
      return;
  }
}
