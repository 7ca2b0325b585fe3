import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../testing/index.ts';
import { boundYoungGeneration, youngGeneration } from './young-generation.ts';

const megabyte = 1024 * 1024;

describe('the young generation', () => {
  it('may grow while it is small, and again when V8 has made it small', async () => {
    const clock = createFakeClock();
    const allowed: boolean[] = [];
    let size = megabyte;
    const end = boundYoungGeneration(clock, { size: () => size, mayGrow: (may) => void allowed.push(may) });
    for (const next of [4, 8, 16, 2]) {
      size = next * megabyte;
      await clock.advance(1_000);
    }
    expect(allowed).toEqual([true, false, true]);
    end();
    expect(clock.pending).toBe(0);
  });

  it('has a size', () => {
    expect(youngGeneration.size()).toBeGreaterThan(0);
  });
});
