import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { badPod, goodPod, podOfOwner } from '../testing/pods.ts';
import type { DeleteOutcome } from './attempts.ts';
import { type DependentPod, decide } from './decide.ts';
import { emptyNamespaceState, type NamespaceState, recordOutcome } from './namespace-state.ts';

const conflict = new ApiError({ code: 'Conflict', message: 'the object has been modified' });

const names = (pods: readonly DependentPod[]): readonly string[] => pods.map(({ pod }) => pod.name);

/** A namespace in which the test decides how deletes end. */
const createBench = () => {
  let state: NamespaceState = emptyNamespaceState;
  return {
    decideAt: (now: number, ...pods: readonly DependentPod[]) => {
      const decision = decide(pods, { state, now });
      state = decision.state;
      return decision;
    },
    answer: (now: number, pod: DependentPod, outcome: DeleteOutcome = { kind: 'deleted' }): void => {
      state = recordOutcome(state, { pod: pod.pod, outcome }, now);
    },
    state: () => state,
  };
};

describe('decide', () => {
  it.each([
    ['a crash-looping pod', badPod('a'), ['a']],
    ['a running pod', goodPod('a'), []],
    ['a pod that is being deleted', badPod('a', 'rs', { deleting: true }), []],
    ['a pod of a Node of another API', podOfOwner('a', { apiVersion: 'longhorn.io/v1beta2', kind: 'Node' }), ['a']],
    ['a pod of a Job of another API', podOfOwner('a', { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' }), ['a']],
  ])('chooses what to delete for %s', (_, pod, expected) => {
    const { deletions, leftAlone } = createBench().decideAt(0, pod);
    expect([names(deletions), leftAlone]).toEqual([expected, []]);
  });

  it.each([
    ['a pod without a controller owner', 'no-controller', undefined],
    ['a mirror pod', 'mirror-pod', { apiVersion: 'v1', kind: 'Node' }],
    ['a pod of a Job', 'pod-of-job', { apiVersion: 'batch/v1', kind: 'Job' }],
  ])('leaves %s alone, and reports it once while it exists', (_, why, controller) => {
    const bench = createBench();
    const pod = podOfOwner('a', controller);
    const first = bench.decideAt(0, pod, badPod('b'));
    expect([names(first.deletions), first.leftAlone]).toEqual([['b'], [{ dependent: pod, why }]]);
    const second = bench.decideAt(100_000, pod);
    expect([second.deletions, second.leftAlone, second.nextDecisionAt]).toEqual([[], [], Number.POSITIVE_INFINITY]);
    bench.decideAt(100_001);
    expect(bench.state().attempts.has(pod.pod.uid)).toBe(false);
  });

  it('deletes a pod that it left alone once a controller has adopted it', () => {
    const bench = createBench();
    bench.decideAt(0, podOfOwner('a'));
    expect(names(bench.decideAt(1, badPod('a')).deletions)).toEqual(['a']);
  });

  it('deletes a pod only once, before and after the response', () => {
    const bench = createBench();
    const pod = badPod('a');
    expect(bench.decideAt(0, pod).deletions).toHaveLength(1);
    expect(bench.decideAt(1, pod).deletions).toEqual([]);
    bench.answer(2, pod);
    // The watch lags.
    expect(bench.decideAt(3, pod).deletions).toEqual([]);
    expect(bench.decideAt(100_000, pod).deletions).toEqual([]);
  });

  it('does not make one owner wait for another', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a', 'one'));
    bench.answer(0, badPod('a', 'one'));
    expect(names(bench.decideAt(1, badPod('b', 'one'), badPod('c', 'two')).deletions)).toEqual(['c']);
  });

  it('starts no batch of an owner while a delete of one of its pods is in flight, not even if that pod is gone', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a0'));
    expect(bench.decideAt(1_000).deletions).toEqual([]);
    const early = bench.decideAt(2_000, badPod('a1'), badPod('b', 'other'));
    expect(names(early.deletions)).toEqual(['b']);
    expect(early.nextDecisionAt).toBe(Number.POSITIVE_INFINITY);
    bench.answer(9_000, badPod('a0'), { kind: 'failed', retryAfterMs: 0, mayHaveTakenEffect: true });
    expect(bench.decideAt(9_000, badPod('a1')).nextDecisionAt).toBe(19_000);
    expect(names(bench.decideAt(19_000, badPod('a1')).deletions)).toEqual(['a1']);
  });

  it('counts the wait from the last response of a batch, even if the wait after an earlier response is already over', () => {
    const bench = createBench();
    const [first, slow] = [badPod('a0'), badPod('b0')];
    bench.decideAt(0, first, slow);
    bench.answer(0, first);
    expect(bench.decideAt(11_000, slow, badPod('a1')).deletions).toEqual([]);
    bench.answer(12_000, slow);
    expect(bench.decideAt(12_000, badPod('a1')).nextDecisionAt).toBe(22_000);
  });

  it('deletes a pod of the current batch at once when it starts to crash later', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'), goodPod('b'));
    bench.answer(0, badPod('a'));
    expect(names(bench.decideAt(1_000, badPod('b')).deletions)).toEqual(['b']);
  });

  it('counts the wait from the last delete that succeeded', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'));
    bench.answer(0, badPod('a'));
    bench.decideAt(10_000, badPod('b'));
    bench.answer(10_001, badPod('b'), { kind: 'changed', error: conflict });
    // The second batch has deleted nothing, so the wait is still the 10 s after the first delete, and not 20 s.
    expect(names(bench.decideAt(10_002, badPod('b', 'rs', { resourceVersion: '2' })).deletions)).toEqual(['b']);
  });

  it('waits up to 1 s for the watch to show the change of a pod after a 409', () => {
    const bench = createBench();
    const old = badPod('a');
    bench.decideAt(0, old);
    bench.answer(1, old, { kind: 'changed', error: conflict });
    const lagging = bench.decideAt(2, old);
    expect([lagging.deletions, lagging.refused, lagging.nextDecisionAt]).toEqual([[], [], 1_001]);
    const news = bench.decideAt(1_000, badPod('a', 'rs', { resourceVersion: '2' }));
    expect([names(news.deletions), news.refused]).toEqual([['a'], []]);
  });

  it('treats a 409 as a refusal if no change shows within 1 s, and retries 1, 2, 4, 8, 16 and 30 s after it', () => {
    const bench = createBench();
    const pod = badPod('a');
    bench.decideAt(0, pod);
    let now = 5;
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      bench.answer(now, pod, { kind: 'changed', error: conflict });
      const early = bench.decideAt(now + 999, pod);
      expect([early.deletions, early.refused, early.nextDecisionAt]).toEqual([[], [], now + 1_000]);
      const decided = bench.decideAt(now + 1_000, pod);
      expect(decided.refused).toEqual([{ dependent: pod, error: conflict }]);
      if (waitMs > 1_000) {
        expect([decided.deletions, decided.nextDecisionAt]).toEqual([[], now + waitMs]);
        expect(bench.decideAt(now + waitMs - 1, pod).deletions).toEqual([]);
      }
      const again = waitMs > 1_000 ? bench.decideAt(now + waitMs, pod) : decided;
      expect([names(again.deletions), waitMs > 1_000 ? again.refused : []]).toEqual([['a'], []]);
      now += waitMs + 5;
    }
  });

  it('does not delete a pod again that was gone', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'));
    bench.answer(1, badPod('a'), { kind: 'gone' });
    expect(bench.decideAt(60_000, badPod('a')).deletions).toEqual([]);
    expect(bench.state().owners.get('uid-rs')?.batches).toBe(0);
  });

  it('retries a failed delete after 1, 2, 4, 8, 16, 30 and 30 s, or later if the server requests it', () => {
    const bench = createBench();
    const pod = badPod('a');
    let now = 0;
    for (const waitS of [1, 2, 4, 8, 16, 30, 30]) {
      expect(bench.decideAt(now, pod).deletions).toHaveLength(1);
      bench.answer(now, pod, { kind: 'failed', retryAfterMs: 0, mayHaveTakenEffect: false });
      expect(bench.decideAt(now, pod).nextDecisionAt).toBe(now + waitS * 1_000);
      now += waitS * 1_000;
    }
    bench.decideAt(now, pod);
    bench.answer(now, pod, { kind: 'failed', retryAfterMs: 45_000, mayHaveTakenEffect: false });
    expect(bench.decideAt(now, pod).nextDecisionAt).toBe(now + 45_000);
  });

  it('deletes a pod only once even if the watch loses it meanwhile, and keeps no state of pods that are gone', () => {
    const bench = createBench();
    const pod = badPod('a');
    bench.decideAt(0, pod);
    bench.decideAt(1);
    expect(bench.decideAt(2, pod).deletions).toEqual([]);
    bench.answer(3, pod);
    bench.decideAt(4);
    expect(bench.state().attempts.size).toBe(0);
  });

  it('keeps the wait before a retry even if the watch loses the pod meanwhile', () => {
    const bench = createBench();
    const pod = badPod('a');
    bench.decideAt(0, pod);
    bench.answer(0, pod, { kind: 'failed', retryAfterMs: 45_000, mayHaveTakenEffect: false });
    bench.decideAt(1);
    expect(bench.decideAt(2, pod).nextDecisionAt).toBe(45_000);
    bench.decideAt(45_000);
    expect(bench.state().attempts.size).toBe(0);
  });

  it.each([
    [true, 10_000],
    [false, Number.POSITIVE_INFINITY],
  ])(
    'counts a failed delete that may have landed (%s) as a delete: the pod that replaces it waits',
    (mayHaveTakenEffect, next) => {
      const bench = createBench();
      bench.decideAt(0, badPod('a'));
      bench.answer(0, badPod('a'), { kind: 'failed', retryAfterMs: 0, mayHaveTakenEffect });
      const { deletions, nextDecisionAt } = bench.decideAt(1, badPod('b'));
      expect([names(deletions), nextDecisionAt]).toEqual([mayHaveTakenEffect ? [] : ['b'], next]);
      for (const asked of deletions) bench.answer(500, asked, { kind: 'gone' });
      // The pod itself belongs to the batch and does not wait longer.
      expect(names(bench.decideAt(1_000, badPod('a')).deletions)).toEqual(['a']);
    },
  );

  it('retries a delete that was not sent', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'));
    bench.answer(0, badPod('a'), { kind: 'unsent' });
    expect(bench.decideAt(1, badPod('a')).deletions).toHaveLength(1);
  });

  it('keeps the state of an owner for ten minutes after its last delete, and that of pods only while they exist', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'));
    bench.answer(0, badPod('a'));
    bench.decideAt(599_999);
    expect([bench.state().owners.size, bench.state().attempts.size]).toEqual([1, 0]);
    bench.decideAt(600_000);
    expect(bench.state().owners.size).toBe(0);
  });

  it('drops an owner at once if none of its pods was deleted', () => {
    const bench = createBench();
    bench.decideAt(0, badPod('a'));
    bench.answer(0, badPod('a'), { kind: 'gone' });
    bench.decideAt(1, goodPod('b'));
    expect(bench.state().owners.size).toBe(1);
    bench.decideAt(2);
    expect(bench.state().owners.size).toBe(0);
  });

  it('never becomes the crash loop: 10 s pass between two batches of an owner, then twice as much each time, up to 80 s', () => {
    const events = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: 30_000 }),
        remake: fc.boolean(),
        outcome: fc.constantFrom<DeleteOutcome>(
          { kind: 'deleted' },
          { kind: 'deleted' },
          { kind: 'deleted' },
          { kind: 'changed', error: conflict },
          { kind: 'failed', retryAfterMs: 0, mayHaveTakenEffect: false },
          { kind: 'unsent' },
        ),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(events, (steps) => {
        const bench = createBench();
        let [now, made] = [0, 0];
        let version = 0;
        const batchStarts: number[] = [];
        let roundOf = new Map<string, number>();
        for (const { afterMs, remake, outcome } of steps) {
          now += afterMs;
          version += 1;
          if (remake) made += 1;
          const pod = badPod(`p${String(made)}`, 'rs', { resourceVersion: String(version) });
          for (const seen of bench.decideAt(now, pod).deletions) {
            bench.answer(now, seen, outcome);
            if (outcome.kind !== 'deleted') continue;
            expect(roundOf.has(seen.pod.uid)).toBe(false);
            roundOf = roundOf.set(seen.pod.uid, now);
            batchStarts.push(now);
          }
        }
        for (const [index, at] of batchStarts.entries()) {
          const before = batchStarts[index - 1];
          if (before === undefined) continue;
          // The waits start again at 10 s once the owner's back-off is reset after ten minutes.
          expect(at - before).toBeGreaterThanOrEqual(10_000);
        }
        const gaps = batchStarts.slice(1).map((at, index) => at - (batchStarts[index] ?? 0));
        if (gaps.every((gap) => gap < 600_000)) {
          for (const [index, gap] of gaps.entries()) {
            expect(gap).toBeGreaterThanOrEqual(Math.min(10_000 * 2 ** index, 80_000));
          }
        }
      }),
    );
  });
});
