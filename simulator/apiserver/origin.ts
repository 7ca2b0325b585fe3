import type { SeededRandom } from '../time/index.ts';
import { formatTime } from './time.ts';

export interface OriginOptions {
  readonly random: SeededRandom;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const letters = 'bcdfghjklmnpqrstvwxz2456789';

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');

/** Creates the generated values of new objects: names, UIDs, times. They are the same for the same seed and clock. */
export const createOrigin = (options: OriginOptions) => {
  const { random, now } = options;
  let second = Number.NaN;
  let text = '';

  const timestamp = (ms: number): string => {
    const at = Math.floor(ms / 1000);
    if (at !== second) {
      second = at;
      text = formatTime(at * 1000);
    }
    return text;
  };

  return {
    /** Appends five random letters to `prefix`, as k8s.io/apiserver/pkg/storage/names does. */
    nameFrom: (prefix: string): string => {
      let suffix = '';
      while (suffix.length < 5) suffix += letters.charAt(random.integer(letters.length));
      return prefix.slice(0, 58) + suffix;
    },
    uid: (): string => {
      const part = (): string => hex(random.integer(0x1_0000), 4);
      const version = `4${part().slice(1)}`;
      const variant = hex(0x8000 | random.integer(0x4000), 4);
      // `join` returns one flat string; a template literal would make a tree of strings that lives as long as the object.
      return [part() + part(), part(), version, variant, part() + part() + part()].join('-');
    },
    /** Returns the server's wall-clock time plus `inSeconds`, in RFC 3339 with whole seconds. */
    timestamp: (inSeconds = 0): string => timestamp(now() + inSeconds * 1000),
  };
};

export type ServerOrigin = ReturnType<typeof createOrigin>;
