import { UsageError } from './errors.ts';
import { type FlagType, isGoBoolean } from './flag-types.ts';

/** A command line flag, as data for parsing, help texts and documentation. */
export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly description: string;
  /** A letter that stands for the name, with a single dash. */
  readonly short?: string;
  /** As it would be typed. Without one, and not required, the value is undefined. */
  readonly default?: string;
  readonly required?: boolean;
  /** May be given several times; `type` parses all the texts at once, a line each. */
  readonly repeats?: boolean;
  /** Taken from the Go program: any value is accepted and has no effect. */
  readonly ignored?: boolean;
}

/** By name, without dashes. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never };

export const flag = <T>(type: FlagType<T>, defaultText: string, description: string, short?: string): Flag<T> => ({
  type,
  default: defaultText,
  description,
  ...(short === undefined ? {} : { short }),
});

export const requiredFlag = <T>(type: FlagType<T>, description: string): Flag<T> => ({
  type,
  description,
  required: true,
});

export const optionalFlag = <T>(type: FlagType<T>, description: string, short?: string): Flag<T | undefined> => ({
  type,
  description,
  ...(short === undefined ? {} : { short }),
});

/** The texts of all times that it is given, none of them empty. */
export const repeatedFlag = (placeholder: string, description: string): Flag<readonly string[]> => ({
  type: {
    placeholder,
    takes: placeholder,
    parse: (lines) => ({ value: lines.split('\n').filter((line) => line !== '') }),
  },
  description,
  default: '',
  repeats: true,
});

const parseFlag = (name: string, { type, required, default: fallback }: Flag<unknown>, given?: string): unknown => {
  const text = given ?? fallback;
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

/** The value of every flag from the texts that were given. Throws a UsageError that names the first flag that is wrong. */
export const parseFlags = <F extends Flags>(
  flags: F,
  given: Readonly<Record<string, string | undefined>>,
): FlagValues<F> =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(([, { ignored }]) => ignored !== true)
      .map(([name, definition]) => [name, parseFlag(name, definition, given[name])]),
  ) as FlagValues<F>;

/** The whole name of a flag that was typed, in full or as its letter; with the value where that is attached, as in `-ojson`. */
const fullName = (typed: string, flags: Flags): { readonly name: string; readonly attached?: string } => {
  if (Object.hasOwn(flags, typed)) return { name: typed };
  const found = Object.entries(flags).find(([, { short }]) => short === typed[0]);
  if (found === undefined) return { name: typed };
  const [name, { type }] = found;
  const attached = typed.slice(1);
  if (attached === '') return { name };
  // Only where it can be nothing else: a misspelt name is no value.
  return type.words?.includes(attached) === true ? { name, attached } : { name: typed };
};

/**
 * Rewrites Go's ways to write flags into the one that the parser takes, `--name=value`: a single dash, with the name or its letter, the value as the next
 * argument (whatever it looks like), and booleans without a value. Unknown flags are left for the parser to refuse. Throws a
 * UsageError for a flag whose value is missing.
 */
export const normaliseArguments = (args: readonly string[], flags: Flags): readonly string[] => {
  const normalised: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, typed, given] = /^--?([^=-][^=]*)(?:=([^]*))?$/.exec(arg) ?? [];
    if (arg === '--') return [...normalised, arg, ...rest];
    if (typed === undefined) {
      normalised.push(arg);
      continue;
    }
    const { name, attached } = fullName(typed, arg.startsWith('--') ? {} : flags);
    const value = given ?? attached;
    if (name === 'h' || name === 'help') normalised.push('--help');
    else if (value !== undefined && Object.hasOwn(flags, name)) normalised.push(`--${name}=${value}`);
    // An unknown one goes without its value, so that the parser can say which one is meant.
    else normalised.push(withValue(name, Object.hasOwn(flags, name) ? flags[name] : undefined, rest));
  }
  return normalised;
};

/** Takes the value of flag `name` from the arguments after it. */
const withValue = (name: string, definition: Flag<unknown> | undefined, rest: string[]): string => {
  if (definition === undefined) return `--${name}`;
  const [next] = rest;
  if (definition.type.bare === true && (next === undefined || !isGoBoolean(next))) return `--${name}=true`;
  if (next === undefined) throw new UsageError(`flag --${name} needs a value; it takes ${definition.type.takes}`);
  return `--${name}=${rest.shift()}`;
};
