/**
 * Characters that control a terminal, end a line or change the order of its text: C0, DEL and C1, the line and paragraph separators U+2028 and U+2029, and
 * bidirectional controls (UAX #9, 2.1 to 2.6). JSON escapes C0 only.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes control characters in one line as JSON does, such as ESC as `\u001b`, so that JSON keeps its value. */
export const escapeControls = (text: string): string => text.replaceAll(controls, escaped);

const isLayout = (char: string): boolean => char === '\n' || char === '\t';

/** Escapes control characters in a text of several lines, except line feeds and tabs. */
export const escapeControlsInLines = (text: string): string =>
  text.replaceAll(controls, (char) => (isLayout(char) ? char : escaped(char)));

export const hasControls = (text: string): boolean => escapeControlsInLines(text) !== text;
