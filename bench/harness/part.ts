import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import { messageOf } from './command.ts';
import type { Target } from './target.ts';

export interface BenchOptions {
  readonly clock: Clock;
  readonly targets: readonly Target[];
  /** Small worlds and short waits: shows that the harness works, and measures nothing. */
  readonly quick: boolean;
  /** Instead of the sizes of the part. */
  readonly shoots?: number;
  readonly nodes?: number;
  /** Prints progress. */
  readonly say: (text: string) => void;
}

export interface Size {
  readonly shoots: number;
  /** Of each shoot. */
  readonly nodes: number;
}

/** What one part of the benchmark found. */
export interface PartResult {
  readonly markdown: string;
  /** Aims that were missed, and by how much; runs that failed. */
  readonly missed: readonly string[];
  /** The figures behind `markdown`. */
  readonly json: unknown;
}

export const never = new AbortController().signal;

/** `work` with a directory for its files, which goes when it ends. */
export const inScratch = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** One run against a target, or why it failed, as a sentence. */
export type PartOutcome<R> = { readonly result: R } | { readonly failure: string };

/** Runs `work` with a directory of its own. Its failure is no reason to lose what took other runs minutes. */
export const attempt = async <R>(
  what: string,
  { say }: BenchOptions,
  work: (directory: string) => Promise<R>,
): Promise<PartOutcome<R>> => {
  say(what);
  try {
    return { result: await inScratch(work) };
  } catch (error) {
    const message = messageOf(error);
    say(message);
    return { failure: `${what}: not measured: ${message.split('\n')[0] ?? ''}` };
  }
};

/** Measures each target in turn, in a world of its own, so that each finds the same. */
export const attemptEach = async <R>(
  name: string,
  options: BenchOptions,
  measure: (target: Target, directory: string) => Promise<R>,
): Promise<readonly PartOutcome<R>[]> => {
  const outcomes: PartOutcome<R>[] = [];
  for (const target of options.targets) {
    outcomes.push(await attempt(`${name}: ${target.name}`, options, (directory) => measure(target, directory)));
  }
  return outcomes;
};

/** `tell` prints all results, `missedBy` names the aims that one of them missed. */
export const partResult = <R extends { readonly target: string }>(
  outcomes: readonly PartOutcome<R>[],
  tell: (results: readonly R[]) => string,
  missedBy: (result: R) => readonly string[] = () => [],
): PartResult => {
  const results = outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : []));
  const failures = outcomes.flatMap((outcome) => ('failure' in outcome ? [outcome.failure] : []));
  const missed = results.flatMap((result) => missedBy(result).map((aim) => `${result.target}: ${aim}`));
  return { markdown: tell(results), missed: [...failures, ...missed], json: results };
};
