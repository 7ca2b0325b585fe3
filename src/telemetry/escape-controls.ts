/**
 * What drives a terminal or turns the order of what it shows: C0, DEL and C1 controls, and the bidirectional ones (UAX #9, 2.1 to 2.6). JSON
 * escapes the first kind only.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** For one line: `\u001b` for an ESC, as in JSON, so that JSON stays JSON of the same value. */
export const escapeControls = (text: string): string => text.replaceAll(controls, escaped);

const isLayout = (char: string): boolean => char === '\n' || char === '\t';

/** For text of several lines: line feeds and tabs are left. */
export const escapeControlsInLines = (text: string): string =>
  text.replaceAll(controls, (char) => (isLayout(char) ? char : escaped(char)));

export const hasControls = (text: string): boolean => escapeControlsInLines(text) !== text;
