import { describe, expect, it } from 'vitest';
import { goQuote } from './go-quote.ts';

/** Texts and the results of `strconv.Quote` of Go 1.26. */
const cases: readonly (readonly [text: string, quoted: string])[] = [
  ['', '""'],
  ['a b', '"a b"'],
  ['quo"te', '"quo\\"te"'],
  ["apo'strophe", '"apo\'strophe"'],
  ['back\\slash', '"back\\\\slash"'],
  ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
  ['\u0000\u001f\u007f', '"\\x00\\x1f\\x7f"'],
  ['\u0080\u009f', '"\\u0080\\u009f"'],
  ['\u00a0', '"\\u00a0"'],
  ['\u00ad', '"\\u00ad"'],
  ['caf\u00e9', '"caf\u00e9"'],
  ['e\u0301', '"e\u0301"'],
  ['\u65e5\u672c', '"\u65e5\u672c"'],
  ['\u200b\u2028\ufeff', '"\\u200b\\u2028\\ufeff"'],
  ['\u3000', '"\\u3000"'],
  ['\ue000', '"\\ue000"'],
  ['\ufffd', '"\ufffd"'],
  ['\u{1f600}', '"\u{1f600}"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['\u{10ffff}', '"\\U0010ffff"'],
  ['constructor', '"constructor"'],
];

describe("Go's %q", () => {
  it.each(cases)('%j: %s', (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });

  it('replaces half a surrogate pair with U+FFFD, as an encoder does', () => {
    expect(goQuote('a\ud800b')).toBe('"a\ufffdb"');
    expect(goQuote('\udc00')).toBe('"\ufffd"');
  });
});
