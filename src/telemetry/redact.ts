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

/** Our own configuration names Secrets but holds none, and its label selectors may have any key. */
const own = 'configuration';

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi;

const cleanText = (text: string): string => text.replace(privateKey, redacted).replace(bearer, `$1 ${redacted}`);

/** Keeps the stack only of an error without a code: one with a code is an expected one, not a bug, and its message is enough. */
const plainError = (error: Error & { readonly code?: unknown }): object => {
  const { name: type, message, stack, code, cause } = error;
  return typeof code === 'string' || typeof code === 'number'
    ? { type, message, code, cause }
    : { type, message, stack, cause };
};

/** `hides`: true if a field with the name of a secret is redacted. */
const cleanValue = (value: unknown, depth: number, hides: boolean): unknown => {
  if (typeof value === 'string') return cleanText(value);
  // JSON has no big integers, no NaN and no infinities; null would hide which one it was.
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toJSON();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // This also ends a circular structure.
  if (depth >= deepest) return '[too deep]';
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, depth + 1, hides));
  const fields = Object.entries(value instanceof Error ? plainError(value) : value) as readonly [string, unknown][];
  return Object.fromEntries(
    fields
      .filter(([, field]) => field !== undefined)
      .map(([name, field]) => [
        name,
        hides && isSecret(name) && field !== null ? redacted : cleanValue(field, depth + 1, hides && name !== own),
      ]),
  );
};

/**
 * Converts log fields to plain JSON data, without secrets. None should get this far; as a second line of defence, this redacts fields with
 * names of secrets, and private keys and credentials inside of texts. Below `configuration`, which is our own, only texts are redacted. Never throws.
 */
export const cleanFields = (fields: LogFields): LogFields => {
  try {
    return cleanValue(fields, 0, true) as LogFields;
  } catch (error) {
    // Only a getter that throws leads here.
    return { unreadableFields: String(error) };
  }
};
