import { UsageError } from './errors.ts';
import { type FlagType, isGoBoolean } from './flag-types.ts';

/** Definition of a command line flag, used for parsing, help texts and documentation. */
export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly description: string;
  /** Short form of the flag: a letter, given with a single dash. */
  readonly short?: string;
  /** Default as it would be typed. The value of an optional flag without default is undefined. */
  readonly default?: string;
  readonly required?: boolean;
  /** True for a flag of the Go program that accepts any value and has no effect. */
  readonly ignored?: boolean;
}

/** Flags by the member that has their value. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

export const flag = <T>(type: FlagType<T>, defaultText: string, description: string, short?: string): Flag<T> => ({
  type,
  default: defaultText,
  description,
  short,
});

export const requiredFlag = <T>(type: FlagType<T>, description: string): Flag<T> => ({
  type,
  description,
  required: true,
});

export const optionalFlag = <T>(type: FlagType<T>, description: string, short?: string): Flag<T | undefined> => ({
  type,
  description,
  short,
});

/** Returns the name of the flag of a member: that of `leaderTimeoutMs` is `leader-timeout`, as is that of `leader-timeout`. */
export const flagNameOf = (member: string): string =>
  member.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const parseFlag = (name: string, { type, required, default: fallback }: Flag<unknown>, given?: string): unknown => {
  const text = given === '' && type.emptyIsDefault === true ? fallback : (given ?? fallback);
  if (text === undefined) {
    if (required === true) throw new UsageError(`flag --${name} is required; it takes ${type.takes}`);
    return undefined;
  }
  const parsed = type.parse(text);
  if (parsed === undefined) {
    throw new UsageError(`flag --${name} takes ${type.takes}; it was given ${JSON.stringify(text)}`);
  }
  return parsed.value;
};

/** Parses the given texts, by name, into the values of all flags. Throws a UsageError that names the first wrong flag. */
export const parseFlags = <F extends Flags>(
  flags: F,
  given: Readonly<Record<string, string | undefined>>,
): FlagValues<F> =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(([, { ignored }]) => ignored !== true)
      .map(([member, definition]) => {
        const name = flagNameOf(member);
        return [member, parseFlag(name, definition, given[name])];
      }),
  ) as FlagValues<F>;

/** Returns the full name of a flag that was typed in full or as its letter, and the value if it is attached, as in `-ojson`. */
const fullName = (typed: string, flags: Flags): { readonly name: string; readonly attached?: string } => {
  if (Object.hasOwn(flags, typed)) return { name: typed };
  const found = Object.entries(flags).find(([, { short }]) => short === typed[0]);
  if (found === undefined) return { name: typed };
  const [name, { type }] = found;
  const attached = typed.slice(1);
  if (attached === '') return { name };
  // An attached value must be one of the flag's known words: anything else is a misspelt name.
  return type.words?.includes(attached) === true ? { name, attached } : { name: typed };
};

/**
 * Rewrites flags in the forms that Go accepts into the parser's form, `--name=value`. Go's forms are a single dash with the name or letter, the value as
 * the next argument (even one that begins with a dash), and booleans without a value. Unknown flags stay, so that the parser rejects them. Throws a
 * UsageError if a flag has no value. With `untilOperand`, the first argument that is no flag ends the flags, as in Go.
 */
export const normaliseArguments = (
  args: readonly string[],
  flags: Flags,
  { untilOperand = false }: { readonly untilOperand?: boolean } = {},
): readonly string[] => {
  const normalised: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, typed, given] = /^--?([^=-][^=]*)(?:=([^]*))?$/.exec(arg) ?? [];
    if (arg === '--') return [...normalised, arg, ...rest];
    if (untilOperand && (arg === '-' || !arg.startsWith('-'))) return [...normalised, '--', arg, ...rest];
    if (typed === undefined) {
      normalised.push(arg);
      continue;
    }
    const { name, attached } = fullName(typed, arg.startsWith('--') ? {} : flags);
    const value = given ?? attached;
    if (name === 'h' || name === 'help') normalised.push('--help');
    else if (value !== undefined && Object.hasOwn(flags, name)) normalised.push(`--${name}=${value}`);
    // An unknown flag is passed on without its value, so that the parser can suggest the right name.
    else normalised.push(withValue(name, Object.hasOwn(flags, name) ? flags[name] : undefined, rest));
  }
  return normalised;
};

/** Removes the value of flag `name` from the arguments after it, and returns both in the form `--name=value`. */
const withValue = (name: string, definition: Flag<unknown> | undefined, rest: string[]): string => {
  if (definition === undefined) return `--${name}`;
  const [next] = rest;
  if (definition.type.bare === true && (next === undefined || !isGoBoolean(next))) return `--${name}=true`;
  if (next === undefined) throw new UsageError(`flag --${name} needs a value; it takes ${definition.type.takes}`);
  return `--${name}=${rest.shift()}`;
};
