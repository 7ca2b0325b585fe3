import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, escapeControlsInLines, hasControls } from './escape-controls.ts';

/** Control characters as Unicode defines them: categories Cc, Zl and Zp, and the property Bidi_Control. */
const control = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

describe('rule 31: control characters', () => {
  it.each([
    ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['\u009b31m', '\\u009b31m'],
    ['a\rb\u0008c\u007f\u0000', 'a\\u000db\\u0008c\\u007f\\u0000'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['\u2066\u2069\u200e\u200f\u061c', '\\u2066\\u2069\\u200e\\u200f\\u061c'],
    ['a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['Zürich, 日本, 👩‍🚀', 'Zürich, 日本, 👩‍🚀'],
  ])('rule 31: %j is shown as %s', (text, shown) => {
    expect(escapeControls(text)).toBe(shown);
    expect(hasControls(text)).toBe(text !== shown);
  });

  it('rule 31: line feeds and tabs are kept only in text of several lines', () => {
    expect(escapeControls('a\n\tb')).toBe('a\\u000a\\u0009b');
    expect(escapeControlsInLines('a\n\tb\r\n')).toBe('a\n\tb\\u000d\n');
  });

  it('rule 31: all control characters of Unicode are escaped, and no others', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const char = String.fromCodePoint(code);
      if ((escapeControls(char) === char) === control.test(char)) throw new Error(`U+${code.toString(16)}`);
    }
  });

  it('rule 31: JSON keeps its value', () => {
    const characters = ['a', '"', '\u001b', '\u009b', '\u2028', '\u202e', '\n'];
    // Without backslashes: after a key that contains one, V8 13 reads other escaped keys wrongly (https://github.com/nodejs/node/issues/63785).
    const key = fc.string({ unit: fc.constantFrom(...characters) });
    const text = fc.string({ unit: fc.constantFrom(...characters, '\\') });
    fc.assert(
      fc.property(fc.dictionary(key, text), (value) => {
        const json = escapeControlsInLines(JSON.stringify(value));
        expect(JSON.parse(json)).toEqual(value);
        expect(json).not.toMatch(control);
      }),
    );
  });
});
