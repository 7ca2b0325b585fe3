import { describe, expect, it } from 'vitest';
import { createSeededRandom } from './random.ts';
import { TimerHeap } from './timer-heap.ts';

interface Waiting {
  readonly deadline: number;
  readonly order: number;
  readonly cancel: () => void;
}

const earliest = (model: readonly Waiting[]): Waiting | undefined =>
  [...model].sort((a, b) => a.deadline - b.deadline || a.order - b.order)[0];

describe('a timer heap', () => {
  it('takes the earliest timer and forgets cancelled ones, as a sorted list would', () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const random = createSeededRandom(seed);
      const heap = new TimerHeap();
      let model: Waiting[] = [];
      for (let order = 0; order < 600; order += 1) {
        const chance = random.next();
        if (chance < 0.5) {
          const deadline = random.integer(200);
          model.push({ deadline, order, cancel: heap.add(deadline, () => undefined) });
        } else if (chance < 0.8) {
          const victim = model[random.integer(Math.max(1, model.length))];
          victim?.cancel();
          model = model.filter((waiting) => waiting !== victim);
        } else {
          const instant = random.integer(200);
          const next = earliest(model);
          const due = next !== undefined && next.deadline <= instant ? next : undefined;
          expect([seed, order, heap.take(instant)?.deadline]).toEqual([seed, order, due?.deadline]);
          model = model.filter((waiting) => waiting !== due);
        }
        expect([seed, order, heap.size]).toEqual([seed, order, model.length]);
      }
    }
  });
});
