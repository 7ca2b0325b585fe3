import type { LogFields } from '../ports/logger.ts';

const redacted = '[redacted]';
/** Maximum depth of fields. The values of a label selector in the weeder's configuration are at depth 8. */
const deepest = 10;

/** Field names of secrets, in lower case, without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'bearer', 'cookie', 'credential', 'credentials', 'key', 'kubeconfig', 'passwd', 'password'],
  ...['accesstoken', 'idtoken', 'refreshtoken', 'serviceaccounttoken', 'token', 'tokens'],
  ...['clientcertificatedata', 'clientkey', 'clientkeydata', 'keydata', 'privatekey', 'tlskey'],
  ...['secret', 'secretdata', 'secrets', 'stringdata'],
]);

const isSecret = (name: string): boolean => secretNames.has(name.toLowerCase().replace(/[-_]/g, ''));

/** Returns true for our own configuration. It names Secrets but holds none, and its label selectors may have any key. */
const isOurOwn = (name: string): boolean => name === 'configuration';

/** Position of a value in the fields. */
interface Place {
  readonly depth: number;
  /** True if the value is inside of our own configuration, where names do not mark secrets. */
  readonly isOwn: boolean;
}

const below = ({ depth, isOwn }: Place, name = ''): Place => ({ depth: depth + 1, isOwn: isOwn || isOurOwn(name) });

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi;

const cleanText = (text: string): string => text.replace(privateKey, redacted).replace(bearer, `$1 ${redacted}`);

/** Converts an error. Its stack is kept only if it has no code: an error with a code is an expected one, not a bug, and its message is enough. */
const cleanError = (error: Error, place: Place): unknown => {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return {
    type: error.name,
    message: cleanText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : { stack: cleanText(error.stack ?? '') }),
    ...(cause === undefined ? {} : { cause: cleanValue(cause, below(place)) }),
  };
};

const cleanValue = (value: unknown, place: Place): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  // JSON has no NaN and no infinities; null would hide which one it was.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  // This also ends a circular structure.
  if (place.depth >= deepest) return '[too deep]';
  if (value instanceof Error) return cleanError(value, place);
  if (value instanceof Date) return Number.isNaN(value.valueOf()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return cleanObject(Object.fromEntries(value as Map<string, unknown>), place);
  if (value instanceof Set) return [...(value as Set<unknown>)].map((item) => cleanValue(item, below(place)));
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, below(place)));
  return cleanObject(value as LogFields, place);
};

const cleanObject = (object: LogFields, place: Place): LogFields =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      !place.isOwn && isSecret(name) && value !== undefined && value !== null
        ? redacted
        : cleanValue(value, below(place, name)),
    ]),
  );

/**
 * Converts log fields to plain JSON data, without secrets. None should get this far; as a second line of defence, this redacts fields with
 * names of secrets, and private keys and credentials inside of texts. Below `configuration`, which is our own, only texts are redacted. Never throws.
 */
export const cleanFields = (fields: LogFields): LogFields => {
  try {
    return cleanObject(fields, { depth: 0, isOwn: false });
  } catch (error) {
    // Only a getter that throws leads here.
    return { unreadableFields: String(error) };
  }
};
