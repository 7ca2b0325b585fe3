import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, say } from './command.ts';

/** What one measurement works with. */
export interface Workplace {
  /** Temporary. */
  readonly directory: string;
  /** Has `end` called after the measurement, also after one that failed; the last one first. */
  readonly atEnd: (end: () => Promise<unknown>) => void;
}

/** Runs one measurement. Returns undefined, and says why, if it fails: the results of others are kept. */
export const attempt = async <R>(what: string, measure: (place: Workplace) => Promise<R>): Promise<R | undefined> => {
  say(what);
  const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-'));
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await measure({ directory, atEnd: (end) => void ends.unshift(end) });
  } catch (error) {
    say(`${what}: not measured: ${messageOf(error)}`);
    return undefined;
  } finally {
    for (const end of ends) await end();
    rmSync(directory, { recursive: true, force: true });
  }
};
