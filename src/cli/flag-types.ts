import { formatGoDuration, parseGoDuration } from '../kubernetes/api/duration.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { type BindAddress, bindAddressForms, parseBindAddress } from '../process/index.ts';
import type { LogEncoder, LogLevel } from '../telemetry/index.ts';

/** Parses the text of a flag into its value. */
export interface FlagType<T> {
  /** Name of the value in help texts. */
  readonly placeholder: string;
  /** The allowed values, as a phrase after "takes". */
  readonly takes: string;
  /** Returns undefined if the text is not allowed. */
  readonly parse: (text: string) => { readonly value: T } | undefined;
  /** True if the flag may be given without a value, like a boolean. */
  readonly bare?: boolean;
  /** True if an empty text stands for the default, as in a Deployment whose template left the value out. */
  readonly emptyIsDefault?: boolean;
  /** The words that the flag accepts, if they form a fixed list. */
  readonly words?: readonly string[];
}

export const text = (placeholder: string, takes: string): FlagType<string> => ({
  placeholder,
  takes,
  parse: (value) => (value === '' ? undefined : { value }),
});

/** The names of a shoot that commands on a seed accept. */
export const shootNames = 'the namespace of a control plane, PROJECT/NAME or garden-PROJECT/NAME';

export const shootName = text('shoot', shootNames);

/** The name of a namespace is an RFC 1123 label: `IsDNS1123Label` in k8s.io/apimachinery/pkg/util/validation. */
export const namespaceName: FlagType<string> = {
  placeholder: 'namespace',
  takes: 'the name of a namespace: at most 63 lower case letters, digits and "-", with a letter or digit at both ends',
  parse: (value) => (value.length <= 63 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(value) ? { value } : undefined),
};

const goBooleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false] as const),
]);

/** Returns true for the words that Go's `strconv.ParseBool` accepts. */
export const isGoBoolean = (word: string): boolean => goBooleans.has(word);

export const bool: FlagType<boolean> = {
  placeholder: 'bool',
  takes: 'true or false (also t, f, 1, 0), or no value for true',
  bare: true,
  parse: (word) => {
    const value = goBooleans.get(word);
    return value === undefined ? undefined : { value };
  },
};

const goInteger =
  /^([+-]?)(0[xX]_?[\da-fA-F]+(?:_[\da-fA-F]+)*|0[bB]_?[01]+(?:_[01]+)*|0[oO]?_?[0-7]+(?:_[0-7]+)*|0|[1-9]\d*(?:_\d+)*)$/;

/** Parses an integer literal of Go, as Go's integer flags do: `0x10`, `1_000`, and `010` for 8 (`strconv.ParseInt` with base 0). */
const parseGoInteger = (value: string): number | undefined => {
  const [, sign, literal = ''] = goInteger.exec(value) ?? [];
  if (sign === undefined) return undefined;
  const digits = literal.replaceAll('_', '').replace(/^0[oO]?(?=[0-7])/, '0o');
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) return undefined;
  return sign === '-' ? 0 - number : number;
};

/** A whole number; `max` only together with `min`. */
export const integer = ({
  min,
  max = Infinity,
}: {
  readonly min?: number;
  readonly max?: number;
}): FlagType<number> => ({
  placeholder: 'int',
  takes: `a whole number${min === undefined ? '' : max === Infinity ? ` >= ${min}` : ` from ${min} to ${max}`}`,
  parse: (word) => {
    const value = parseGoInteger(word);
    return value === undefined || value < (min ?? -Infinity) || value > max ? undefined : { value };
  },
});

const goFloat = /^[+-]?(\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i;
const goInfinity = /^([+-]?)inf(inity)?$/i;

/** A float flag of Go (`strconv.ParseFloat`), without its hexadecimal form. NaN, and infinities of both signs, are values. */
export const float: FlagType<number> = {
  placeholder: 'float',
  takes: 'a number',
  parse: (word) => {
    if (word.toLowerCase() === 'nan') return { value: Number.NaN };
    const infinity = goInfinity.exec(word);
    if (infinity !== null) return { value: infinity[1] === '-' ? -Infinity : Infinity };
    const value = goFloat.test(word) ? Number(word.replaceAll('_', '')) : Infinity;
    return Number.isFinite(value) ? { value: value + 0 } : undefined;
  },
};

const from = <T>(result: Result<T, string>): { readonly value: T } | undefined =>
  result.ok ? { value: result.value } : undefined;

/** A duration flag of Go, in milliseconds. */
export const duration: FlagType<number> = {
  placeholder: 'duration',
  takes: `a duration with a unit, such as ${formatGoDuration(15_000)}, 1m30s or 300ms`,
  parse: (word) => from(parseGoDuration(word)),
};

export const positiveDuration: FlagType<number> = {
  ...duration,
  takes: duration.takes.replace('duration', 'duration > 0'),
  parse: (word) => {
    const parsed = from(parseGoDuration(word));
    return parsed !== undefined && parsed.value > 0 ? parsed : undefined;
  },
};

/** An address to listen on; undefined if turned off. */
export const address: FlagType<BindAddress | undefined> = {
  placeholder: 'address',
  emptyIsDefault: true,
  takes: bindAddressForms,
  parse: (word) => from(parseBindAddress(word)),
};

export const choice = <T extends string>(placeholder: string, values: readonly [T, ...T[]]): FlagType<T> => ({
  placeholder,
  takes: [values.slice(0, -1).join(', '), ...values.slice(-1)].join(' or '),
  words: values,
  parse: (word) => {
    const value = values.find((known) => known === word.toLowerCase());
    return value === undefined ? undefined : { value };
  },
});

const logLevels: readonly LogLevel[] = ['debug', 'info', 'error', 'panic'];

/** controller-runtime's `--zap-log-level`: a decimal number is a verbosity, and every verbosity above 0 is debug. controller-runtime refuses 0. */
export const logLevel: FlagType<LogLevel> = {
  placeholder: 'level',
  takes: 'debug, info, error, panic, or a verbosity >= 0 (above 0 is debug)',
  parse: (word) => {
    if (/^\+?\d+$/.test(word)) return { value: Number(word) > 0 ? 'debug' : 'info' };
    const value = logLevels.find((known) => known === word.toLowerCase());
    return value === undefined ? undefined : { value };
  },
};

export const logEncoder: FlagType<LogEncoder> = choice('encoder', ['json', 'console']);

/** Cluster source of a simulated seed, by the values of the prober's `clusterSource.kind`. */
export const clusterSourceType = choice<'gardener' | 'secret'>('source', ['gardener', 'secret']);
