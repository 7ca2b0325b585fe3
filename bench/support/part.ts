import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/index.ts';
import type { Target } from './target.ts';

export interface BenchOptions {
  readonly clock: Clock;
  readonly targets: readonly Target[];
  /** Small worlds and short waits: shows that the harness works, and measures nothing. */
  readonly quick: boolean;
  /** Instead of the sizes of the part. */
  readonly shoots?: number;
  readonly nodes?: number;
  /** Tells how far it is. */
  readonly say: (text: string) => void;
}

/** What one part of the benchmark found. */
export interface PartResult {
  readonly markdown: string;
  /** Aims that were missed, and by how much. */
  readonly missed: readonly string[];
  /** The figures behind `markdown`. */
  readonly json: unknown;
}

/** `work` with a directory for its files, which goes when it ends. */
export const inScratch = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
