import type { LogFields } from '../ports/logger.ts';

const redacted = '[redacted]';
/** The values of a label selector in the weeder's configuration are 8 below the fields of a line. */
const deepest = 10;

/** In lower case, without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'bearer', 'cookie', 'credential', 'credentials', 'key', 'kubeconfig', 'passwd', 'password'],
  ...['accesstoken', 'idtoken', 'refreshtoken', 'serviceaccounttoken', 'token', 'tokens'],
  ...['clientcertificatedata', 'clientkey', 'clientkeydata', 'keydata', 'privatekey', 'tlskey'],
  ...['secret', 'secretdata', 'secrets', 'stringdata'],
]);

const isSecret = (name: string): boolean => secretNames.has(name.toLowerCase().replace(/[-_]/g, ''));

/** Our own configuration names Secrets and holds none; its label selectors may have any word for a key. */
const isOurOwn = (name: string): boolean => name === 'configuration';

/** Where a value stands. */
interface Place {
  readonly depth: number;
  /** Names below it are ours or of labels, and tell nothing. */
  readonly isOwn: boolean;
}

const below = ({ depth, isOwn }: Place, name = ''): Place => ({ depth: depth + 1, isOwn: isOwn || isOurOwn(name) });

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi;

const cleanText = (text: string): string => text.replace(privateKey, redacted).replace(bearer, `$1 ${redacted}`);

/** The stack is for bugs; an error with a code of its own was expected by somebody, and its message says enough. */
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
  // JSON has neither; null would hide which.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  // Also what ends a structure that holds itself.
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
 * Log fields as plain data that JSON can hold. Nothing secret should get this far; as a second line of defence, fields with the
 * names of secrets, private keys and credentials inside of texts are taken out; below `configuration`, which is our own, by their text alone.
 * Never throws.
 */
export const cleanFields = (fields: LogFields): LogFields => {
  try {
    return cleanObject(fields, { depth: 0, isOwn: false });
  } catch (error) {
    // A getter that throws is the only way to get here.
    return { unreadableFields: String(error) };
  }
};
