import { describe, expect, it } from 'vitest';
import { type SeededRandom, createSeededRandom } from './random.ts';

const draw = (random: SeededRandom, count: number): readonly number[] =>
  Array.from({ length: count }, () => random.next());

describe('a seeded random generator', () => {
  it('keeps a recorded sequence, so that old seeds still replay', () => {
    expect(
      Array.from(
        { length: 4 },
        (
          (random) => () =>
            random.integer(1000)
        )(createSeededRandom(1)),
      ),
    ).toMatchInlineSnapshot(`
      [
        660,
        261,
        158,
        760,
      ]
    `);
  });

  it('forks streams that do not depend on earlier draws', () => {
    const fresh = createSeededRandom(1);
    const used = createSeededRandom(1);
    draw(used, 100);
    expect(draw(fresh.fork('kubelet'), 5)).toEqual(draw(used.fork('kubelet'), 5));
    expect(draw(fresh.fork('kubelet'), 5)).not.toEqual(draw(fresh.fork('scheduler'), 5));
    expect(draw(fresh.fork('a').fork('b'), 5)).not.toEqual(draw(fresh.fork('b').fork('a'), 5));
  });
});
