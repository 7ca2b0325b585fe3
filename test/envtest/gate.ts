import { type Missing, describeUnless } from '../gate.ts';
import { describeMissing, findBinaries } from './binaries.ts';

export const missingEnvtest = (): Missing => {
  const found = findBinaries();
  return found.ok ? undefined : describeMissing(found);
};

/** `describe` for tests that need a real API server. */
export const describeEnvtest = (name: string, tests: () => void): void =>
  describeUnless([missingEnvtest()], name, tests);
