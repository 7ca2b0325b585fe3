import { describe, it } from 'vitest';

/** What tests need and npm does not install: one line that says what is missing and how to get it; undefined if it is there. */
export type Missing = string | undefined;

/** The title of tests that are skipped. test/skipped-tests.ts prints the reason at the end of the run. */
export const skippedTitle = (name: string, reason: string): string => `${name} [skipped: ${reason}]`;

/** Decides about tests that need more than npm installs. In CI they fail, because there a skip would stay unnoticed. */
export const decideGate = (
  missing: readonly Missing[],
  ci: string | undefined,
): { readonly kind: 'run' | 'skip' | 'fail'; readonly reason: string } => {
  const reason = missing.filter((line) => line !== undefined).join('; ');
  if (reason === '') return { kind: 'run', reason };
  return { kind: ['', 'false'].includes(ci ?? '') ? 'skip' : 'fail', reason };
};

/** `describe` for tests that need more than npm installs: they are skipped if anything is missing, or fail if `CI` is set (and not `false`). */
export const describeUnless = (missing: readonly Missing[], name: string, tests: () => void): void => {
  const { kind, reason } = decideGate(missing, process.env.CI);
  switch (kind) {
    case 'run':
      describe(name, tests);
      return;
    case 'skip':
      describe.skip(skippedTitle(name, reason), tests);
      return;
    case 'fail':
      describe(name, () => {
        it('has what it needs', () => {
          throw new Error(reason);
        });
      });
  }
};
