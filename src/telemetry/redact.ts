import type { LogFields } from '../ports/index.ts';

const redacted = '[redacted]';
const deepest = 8;

/** In lower case, without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'bearer', 'cookie', 'credential', 'credentials', 'key', 'kubeconfig', 'passwd', 'password'],
  ...['accesstoken', 'idtoken', 'refreshtoken', 'serviceaccounttoken', 'token', 'tokens'],
  ...['clientcertificatedata', 'clientkey', 'clientkeydata', 'keydata', 'privatekey', 'tlskey'],
  ...['secret', 'secretdata', 'secrets', 'stringdata'],
]);

const isSecret = (name: string): boolean => secretNames.has(name.toLowerCase().replace(/[-_]/g, ''));

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/gi;

const cleanText = (text: string): string => text.replace(privateKey, redacted).replace(bearer, `$1 ${redacted}`);

/** The stack is for bugs; an error with a code of its own was expected by somebody, and its message says enough. */
const cleanError = (error: Error, depth: number): unknown => {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return {
    type: error.name,
    message: cleanText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : { stack: cleanText(error.stack ?? '') }),
    ...(cause === undefined ? {} : { cause: cleanValue(cause, depth + 1) }),
  };
};

const cleanValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  // JSON has neither; null would hide which.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'function') return '[function]';
  if (typeof value !== 'object' || value === null) return value;
  // Also what ends a structure that holds itself.
  if (depth >= deepest) return '[too deep]';
  if (value instanceof Error) return cleanError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.valueOf()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return cleanObject(Object.fromEntries(value as Map<string, unknown>), depth);
  if (value instanceof Set) return [...(value as Set<unknown>)].map((item) => cleanValue(item, depth + 1));
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, depth + 1));
  return cleanObject(value as LogFields, depth);
};

const cleanObject = (object: LogFields, depth: number): LogFields =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      isSecret(name) && value !== undefined && value !== null ? redacted : cleanValue(value, depth + 1),
    ]),
  );

/**
 * Log fields as plain data that JSON can hold. Nothing secret should get this far; as a second line of defence, fields with the
 * names of secrets, private keys and credentials inside of texts are taken out. Never throws.
 */
export const cleanFields = (fields: LogFields): LogFields => {
  try {
    return cleanObject(fields, 0);
  } catch (error) {
    // A getter that throws is the only way to get here.
    return { unreadableFields: String(error) };
  }
};
