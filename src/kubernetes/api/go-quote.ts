const shortEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII space but no other one. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Half of a surrogate pair has no encoding in UTF-8; encoders write U+FFFD in its place. */
const loneSurrogate = /^\p{Cs}$/u;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

const escape = (char: string): string => {
  const short = shortEscapes[char];
  if (short !== undefined) return short;
  if (loneSurrogate.test(char)) return '\ufffd';
  if (printable.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
};

/** Quotes a string as Go's `%q` does (`strconv.Quote`): keeps printable characters, ASCII or not, and escapes the others. */
export const goQuote = (text: string): string => `"${Array.from(text, escape).join('')}"`;
