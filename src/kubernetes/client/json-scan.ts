import { ResponseError } from '../transport/index.ts';

/** Position in a JSON text that is read byte by byte, wherever its chunks are cut. */
export interface JsonPlace {
  /** Number of open brackets. */
  depth: number;
  isQuoted: boolean;
  isEscaped: boolean;
  /** `scanJson` stops when the depth falls to this. */
  low: number;
  /** `scanJson` stops when the depth rises to this. */
  high: number;
}

/** Maximum depth. No API object nests deeper (apimachinery's own limit is 10,000), and our readers accept no more. */
const deepest = 100;
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

export const createJsonPlace = (): JsonPlace => {
  return { depth: 0, isQuoted: false, isEscaped: false, low: -Infinity, high: Infinity };
};

/**
 * Scans from `from` and returns the index after the bracket at which it stopped, or the length. It does not check that the text is JSON. Throws an
 * AnswerError if the text nests too deeply.
 */
export const scanJson = (place: JsonPlace, bytes: Uint8Array, from: number): number => {
  const { low, high } = place;
  let { depth, isQuoted, isEscaped } = place;
  let at = from;
  for (let isOver = false; !isOver && at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isQuoted) {
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) isQuoted = false;
    } else if (byte === quote) isQuoted = true;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > deepest) throw new ResponseError(`the answer nests deeper than ${String(deepest)} levels`);
      isOver = depth >= high;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      isOver = depth <= low;
    }
  }
  Object.assign(place, { depth, isQuoted, isEscaped });
  return at;
};
