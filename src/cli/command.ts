import { type FlagValues, type Flags, flagNameOf, parseFlags } from './parse-flags.ts';
import type { CliIo } from './io.ts';

export interface Operands {
  /** Name in capitals, as in the usage line. */
  readonly name: string;
  readonly description: string;
  /** If set, there is exactly one operand: one of these words, or any word if the list is empty. If absent, there are one or more files. */
  readonly words?: readonly string[];
}

export interface CommandDefinition<F extends Flags> {
  readonly name: string;
  /** Former names of the command. */
  readonly aliases?: readonly string[];
  /** Line in the list of commands. */
  readonly summary: string;
  /** Text of the help page. Empty lines separate paragraphs. */
  readonly description: string;
  /** By the member that has their value: `leaderTimeoutMs` for `--leader-timeout`. */
  readonly flags: F;
  /** Arguments after the flags. If absent, there must be none. `ignored`: the command warns that they, and all after them, have no effect. */
  readonly operands?: Operands | 'ignored';
  /** Returns the exit code. The message of a UsageError or CommandError is printed. */
  readonly run: (invocation: Invocation<F>, io: CliIo) => Promise<number>;
}

export interface Invocation<F extends Flags> {
  readonly flags: FlagValues<F>;
  /** Names of the flags that were given, in the order of the definition. */
  readonly given: readonly string[];
  readonly operands: readonly string[];
}

/** Texts of the flags as they were typed, by name. */
export type FlagTexts = Readonly<Record<string, string | undefined>>;

/** A command without the types of its flags, so that all commands fit into one list. Its flags are by name. */
export interface Command extends Omit<CommandDefinition<Flags>, 'run'> {
  readonly invoke: (texts: FlagTexts, operands: readonly string[], io: CliIo) => Promise<number>;
}

export const defineCommand = <F extends Flags>({ run, flags, ...definition }: CommandDefinition<F>): Command => {
  const named = Object.fromEntries(Object.entries(flags).map(([member, one]) => [flagNameOf(member), one]));
  return {
    ...definition,
    flags: named,
    invoke: async (texts, operands, io) => {
      const given = Object.keys(named).filter((name) => texts[name] !== undefined);
      return run({ flags: parseFlags(flags, texts), given, operands }, io);
    },
  };
};
