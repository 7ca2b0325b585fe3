import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import { messageOf } from './command.ts';
import type { Target } from './target.ts';

export interface BenchOptions {
  readonly clock: Clock;
  readonly targets: readonly Target[];
  /** True for small worlds and short waits: shows that the harness works, but the figures mean nothing. */
  readonly quick: boolean;
  /** Number of shoots, instead of the part's own sizes. `nodes`: number of nodes per shoot, likewise. */
  readonly shoots?: number;
  readonly nodes?: number;
  /** Prints progress. */
  readonly say: (text: string) => void;
}

export interface Size {
  readonly shoots: number;
  /** Number of nodes of each shoot. */
  readonly nodes: number;
}

/** Result of one part of the benchmark. */
export interface PartResult {
  readonly markdown: string;
  /** Missed aims, with the measured value, and failed runs. */
  readonly missed: readonly string[];
  /** The figures behind `markdown`. */
  readonly json: unknown;
}

export const never = new AbortController().signal;

/** Runs `work` with a temporary directory, which is deleted at the end. */
export const withTempDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Result of one run against a target, or a sentence with the reason for its failure. */
export type PartOutcome<R> = { readonly result: R } | { readonly failure: string };

/** Runs `work` with a temporary directory. A failure is returned, not thrown, so that the results of other runs are kept. */
export const attempt = async <R>(
  what: string,
  { say }: BenchOptions,
  work: (directory: string) => Promise<R>,
): Promise<PartOutcome<R>> => {
  say(what);
  try {
    return { result: await withTempDirectory(work) };
  } catch (error) {
    const message = messageOf(error);
    say(message);
    return { failure: `${what}: not measured: ${message.split('\n')[0] ?? ''}` };
  }
};

/** Measures the targets one after the other, each in a new world, so that all find the same conditions. */
export const measureEachTarget = async <R>(
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

/** Combines outcomes: `tell` formats all results, `missedBy` names the aims that a result missed. */
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
