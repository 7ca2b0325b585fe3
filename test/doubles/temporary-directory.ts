import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a directory, which is removed at the end of the test. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};
