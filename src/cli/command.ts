import { type FlagValues, type Flags, parseFlags } from './parse-flags.ts';
import type { CliIo } from './io.ts';

export interface Operands {
  /** In capitals, as in the usage line. */
  readonly name: string;
  readonly description: string;
  /** Set: there is exactly one, and it is one of these words (none listed: any). Absent: there are one or more files. */
  readonly words?: readonly string[];
}

export interface CommandDefinition<F extends Flags> {
  readonly name: string;
  /** Other names that it has had. */
  readonly aliases?: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** The help text's own words; paragraphs are separated by empty lines. */
  readonly description: string;
  readonly flags: F;
  /** Arguments after the flags. Without, there must be none; `ignored`: the command says that they have no effect. */
  readonly operands?: Operands | 'ignored';
  /** Returns the exit code. A UsageError or CommandError ends it in words. */
  readonly run: (invocation: Invocation<F>, io: CliIo) => Promise<number>;
}

export interface Invocation<F extends Flags> {
  readonly flags: FlagValues<F>;
  /** Names of the flags that were given, in the order of the definition. */
  readonly given: readonly string[];
  readonly operands: readonly string[];
}

/** Flags by name as they were typed. */
export type FlagTexts = Readonly<Record<string, string | undefined>>;

/** A command whose flags' types no longer show, so that commands of all kinds fit into one list. */
export interface Command extends Omit<CommandDefinition<Flags>, 'run'> {
  readonly invoke: (texts: FlagTexts, operands: readonly string[], io: CliIo) => Promise<number>;
}

export const defineCommand = <F extends Flags>({ run, ...definition }: CommandDefinition<F>): Command => ({
  ...definition,
  invoke: async (texts, operands, io) => {
    const given = Object.keys(definition.flags).filter((name) => texts[name] !== undefined);
    return run({ flags: parseFlags(definition.flags, texts), given, operands }, io);
  },
});
