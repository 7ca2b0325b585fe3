import { ResponseError } from '../api/errors.ts';

/** Maximum depth. No API object nests deeper (apimachinery's own limit is 10,000), and our readers accept no more. */
const deepest = 100;
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** Called for each bracket, with its index, the depth before and the depth after it. */
type OnBracket = (at: number, before: number, after: number) => void;

/**
 * Creates a function that finds the brackets of a JSON text, which it gets chunk by chunk, wherever these are cut. It does not check that the text is JSON.
 * Throws a ResponseError if the text nests too deeply.
 */
export const createJsonScan = (onBracket: OnBracket = () => undefined): ((chunk: Uint8Array) => void) => {
  let depth = 0;
  let isQuoted = false;
  let isEscaped = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isQuoted) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isQuoted = false;
      } else if (byte === quote) isQuoted = true;
      else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (depth > deepest) throw new ResponseError(`the answer nests deeper than ${String(deepest)} levels`);
        onBracket(at, depth - 1, depth);
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        onBracket(at, depth + 1, depth);
      }
    }
  };
};
