import type { Random } from '../../src/ports/random.ts';

export interface SeededRandom extends Random {
  /** An independent stream that depends only on this one's seed and `label`, so that one actor's draws do not shift those of others. */
  fork(label: string): SeededRandom;
  /** A whole number in [0, below). */
  integer(below: number): number;
}

/** FNV-1a, then murmur3's finalizer, so that similar seeds give unlike streams. */
const hash = (text: string): number => {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
};

/** Numbers that depend on the seed alone: sfc32 (PractRand's small fast counting generator, 32 bits at a time). */
export const createSeededRandom = (seed: number | string): SeededRandom => {
  const text = String(seed);
  let a = hash(`${text}/a`);
  let b = hash(`${text}/b`);
  let c = hash(`${text}/c`);
  let counter = 1;

  const next32 = (): number => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next32();

  const next = (): number => next32() / 0x1_0000_0000;
  return {
    next,
    fork: (label) => createSeededRandom(`${text}/${label}`),
    integer: (below) => Math.floor(next() * below),
  };
};
