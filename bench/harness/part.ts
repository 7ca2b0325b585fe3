import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { say, messageOf } from './command.ts';
import type { KindName } from '../parts/race-kinds.ts';
import type { Target } from './target.ts';

export interface BenchOptions {
  readonly target: Target;
  /** True for small worlds and short waits: shows that the harness works, but the figures mean nothing. */
  readonly quick: boolean;
  /** Number of shoots, instead of the part's own sizes. `nodes`: number of nodes per shoot, likewise. */
  readonly shoots?: number;
  readonly nodes?: number;
  /** Of the race: the kinds of outages, and the number of rounds of each. */
  readonly outages: readonly KindName[];
  readonly rounds: number;
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
  /** True if the exit code must be 1. */
  readonly isLost?: boolean;
}

/** Short description of the machine on which the benchmark runs. */
export const machine = (): string => {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${String(availableParallelism())} x ${model}, Linux ${release()}, Node ${process.version}`;
};

/** Runs `work` with a temporary directory, which is deleted at the end. */
export const withTempDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Result of one run, or a sentence with the reason for its failure. */
export type Outcome<R> = { readonly result: R } | { readonly failure: string };

/** Runs `work` with a temporary directory. A failure is returned, not thrown, so that the results of other runs are kept. */
export const attempt = async <R>(what: string, work: (directory: string) => Promise<R>): Promise<Outcome<R>> => {
  say(what);
  try {
    return { result: await withTempDirectory(work) };
  } catch (error) {
    const message = messageOf(error);
    say(message);
    return { failure: `${what}: not measured: ${message.split('\n')[0] ?? ''}` };
  }
};

/** The results and the failures of runs. */
export const sortOutcomes = <R>(outcomes: readonly Outcome<R>[]) => ({
  results: outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : [])),
  failures: outcomes.flatMap((outcome) => ('failure' in outcome ? [outcome.failure] : [])),
});

/** Combines the results of a part's runs: `tell` formats them, `missedBy` names the aims that a result missed. */
export const partResult = <R>(
  outcomes: readonly Outcome<R>[],
  tell: (results: readonly R[]) => string,
  missedBy: (result: R) => readonly string[],
): PartResult => {
  const { results, failures } = sortOutcomes(outcomes);
  return { markdown: tell(results), missed: [...failures, ...results.flatMap(missedBy)], json: results };
};

/** An aim: whether it was met, and the sentence for when it was not. */
export type Aim = readonly [isMet: boolean, miss: string];

export const missesOf = (aims: readonly Aim[]): readonly string[] =>
  aims.flatMap(([isMet, miss]) => (isMet ? [] : [miss]));
