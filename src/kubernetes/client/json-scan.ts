import { AnswerError } from '../transport/index.ts';

/** A place in a JSON text that is read byte by byte, wherever its pieces are cut. */
export interface JsonPlace {
  /** Brackets that are open. */
  depth: number;
  isQuoted: boolean;
  isEscaped: boolean;
  /** `scanJson` stops where the depth falls to this, */
  low: number;
  /** and where it rises to this. */
  high: number;
}

/** No API object nests deeper (apimachinery's own limit is 10,000), and no reader of ours goes through more. */
const deepest = 100;
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

export const createJsonPlace = (): JsonPlace => {
  return { depth: 0, isQuoted: false, isEscaped: false, low: -Infinity, high: Infinity };
};

/**
 * Reads on from `from`; returns the index behind the bracket that made it stop, or the length. Whether the text is JSON is for others to say. Throws an
 * AnswerError where it nests too deeply.
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
      if (depth > deepest) throw new AnswerError(`the answer nests deeper than ${String(deepest)} levels`);
      isOver = depth >= high;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      isOver = depth <= low;
    }
  }
  Object.assign(place, { depth, isQuoted, isEscaped });
  return at;
};
