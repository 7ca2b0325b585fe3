import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { badPod, goodPod, podOfOwner } from '../testing/pods.ts';
import type { DeleteOutcome, DependentPod } from '../events.ts';
import { type Owners, judgePods, recordOutcome } from './pods.ts';

const refused = (retryAfterMs?: number): DeleteOutcome => ({
  kind: 'failed',
  error: new ApiError({ code: 'Forbidden', message: 'no', retryAfterMs }),
});
const lost: DeleteOutcome = { kind: 'failed', error: new ApiError({ code: 'ConnectionError', message: 'reset' }) };
const conflict = new ApiError({ code: 'Conflict', message: 'the object has been modified' });

const names = (pods: readonly DependentPod[]): readonly string[] => pods.map(({ pod }) => pod.name);

/** A namespace in which the test decides how deletes end. */
const createBench = () => {
  let owners: Owners = new Map();
  return {
    judgeAt: (now: number, ...pods: readonly DependentPod[]) => {
      const verdict = judgePods(pods, owners, now);
      owners = verdict.owners;
      return verdict;
    },
    answer: (now: number, { pod }: DependentPod, outcome: DeleteOutcome = { kind: 'deleted' }): void => {
      owners = recordOutcome(owners, pod, outcome, now);
    },
    owners: () => owners,
  };
};

describe('judgePods', () => {
  it.each([
    ['a crash-looping pod', badPod('a'), ['a']],
    ['a running pod', goodPod('a'), []],
    ['a pod that is being deleted', badPod('a', 'rs', { deleting: true }), []],
    ['a pod of another kind of v1', podOfOwner('a', { apiVersion: 'v1', kind: 'ReplicationController' }), ['a']],
    ['a pod of another kind of batch/v1', podOfOwner('a', { apiVersion: 'batch/v1', kind: 'CronJob' }), ['a']],
    ['a pod of a Node of another API', podOfOwner('a', { apiVersion: 'longhorn.io/v1beta2', kind: 'Node' }), ['a']],
    ['a pod of a Job of another API', podOfOwner('a', { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' }), ['a']],
  ])('chooses what to delete for %s', (_, pod, expected) => {
    const { deletions, events } = createBench().judgeAt(0, pod);
    expect([names(deletions), events]).toEqual([expected, []]);
  });

  it.each([
    ['a pod without a controller owner', 'no controller owns the pod, so nobody would bring it back', undefined],
    [
      'a mirror pod',
      'the pod mirrors a static pod, which only its kubelet can restart',
      { apiVersion: 'v1', kind: 'Node' },
    ],
    [
      'a pod of a Job',
      'the Job of the pod would count its deletion as a failure',
      { apiVersion: 'batch/v1', kind: 'Job' },
    ],
  ])('leaves %s alone', (_, why, controller) => {
    const pod = podOfOwner('a', controller);
    const { deletions, events } = createBench().judgeAt(0, pod, badPod('b'));
    expect([names(deletions), events]).toEqual([['b'], [{ type: 'left-alone', ...pod, why }]]);
  });

  it('deletes a pod only once, before and after the response', () => {
    const bench = createBench();
    const pod = badPod('a');
    expect(bench.judgeAt(0, pod).deletions).toHaveLength(1);
    expect(bench.judgeAt(1, pod).deletions).toEqual([]);
    bench.answer(2, pod);
    // The watch lags.
    expect(bench.judgeAt(3, pod).deletions).toEqual([]);
    expect(bench.judgeAt(100_000, pod).deletions).toEqual([]);
  });

  it('does not make one owner wait for another', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a', 'one'));
    bench.answer(0, badPod('a', 'one'));
    expect(names(bench.judgeAt(1, badPod('b', 'one'), badPod('c', 'two')).deletions)).toEqual(['c']);
  });

  it('starts no batch of an owner while a delete of one of its pods is in flight, not even if that pod is gone', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a0'));
    expect(bench.judgeAt(1_000).deletions).toEqual([]);
    const early = bench.judgeAt(2_000, badPod('a1'), badPod('b', 'other'));
    expect(names(early.deletions)).toEqual(['b']);
    expect(early.nextAt).toBe(Number.POSITIVE_INFINITY);
    bench.answer(9_000, badPod('a0'), lost);
    expect(bench.judgeAt(9_000, badPod('a1')).nextAt).toBe(19_000);
    expect(names(bench.judgeAt(19_000, badPod('a1')).deletions)).toEqual(['a1']);
  });

  it('waits 10, 20, 40, 80 and 80 s before the next batch, also beside a pod that is well', () => {
    const bench = createBench();
    const podOf = (batch: number): DependentPod => badPod(`a${String(batch)}`);
    let now = 0;
    for (const [batch, waitS] of [10, 20, 40, 80, 80].entries()) {
      expect(bench.judgeAt(now, goodPod('b'), podOf(batch)).deletions).toEqual([podOf(batch)]);
      bench.answer(now, podOf(batch));
      now += waitS * 1_000;
      expect(bench.judgeAt(now - 1, goodPod('b'), podOf(batch + 1)).nextAt).toBe(now);
    }
  });

  it('looks at a few pods only for each pod that waits: an owner may have hundreds', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'));
    bench.answer(0, badPod('a'));
    let looks = 0;
    const waiting = Array.from({ length: 100 }, (_, index) => {
      const { pod, weeding } = badPod(`b${String(index)}`);
      const lookAt = (): typeof pod => {
        looks += 1;
        return pod;
      };
      return {
        weeding,
        get pod() {
          return lookAt();
        },
      };
    });
    expect(bench.judgeAt(1, ...waiting).nextAt).toBe(10_000);
    expect(looks).toBeLessThanOrEqual(200);
  });

  it('counts the wait from the last response of a batch, even if the wait after an earlier response is already over', () => {
    const bench = createBench();
    const [first, slow] = [badPod('a0'), badPod('b0')];
    bench.judgeAt(0, first, slow);
    bench.answer(0, first);
    expect(bench.judgeAt(11_000, slow, badPod('a1')).deletions).toEqual([]);
    bench.answer(12_000, slow);
    expect(bench.judgeAt(12_000, badPod('a1')).nextAt).toBe(22_000);
  });

  it('deletes a pod of the current batch at once when it starts to crash later', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'), goodPod('b'));
    bench.answer(0, badPod('a'));
    expect(names(bench.judgeAt(1_000, badPod('b')).deletions)).toEqual(['b']);
  });

  it('counts the wait from the last delete that succeeded', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'));
    bench.answer(0, badPod('a'));
    bench.judgeAt(10_000, badPod('b'));
    bench.answer(10_001, badPod('b'), { kind: 'changed', error: conflict });
    // The second batch has deleted nothing, so the wait is still the 10 s after the first delete, and not 20 s.
    expect(names(bench.judgeAt(10_002, badPod('b', 'rs', { resourceVersion: '2' })).deletions)).toEqual(['b']);
  });

  it('waits up to 1 s for the watch to show the change of a pod after a 409', () => {
    const bench = createBench();
    const old = badPod('a');
    bench.judgeAt(0, old);
    bench.answer(1, old, { kind: 'changed', error: conflict });
    const lagging = bench.judgeAt(2, old);
    expect([lagging.deletions, lagging.events, lagging.nextAt]).toEqual([[], [], 1_001]);
    const news = bench.judgeAt(1_000, badPod('a', 'rs', { resourceVersion: '2' }));
    expect([names(news.deletions), news.events]).toEqual([['a'], []]);
  });

  it.each<[after: string, outcome: DeleteOutcome, isTold: boolean]>([
    ['it was refused', refused(), false],
    ['a 409 that no change of the pod explains', { kind: 'changed', error: conflict }, true],
  ])('retries a delete after %s, after 1, 2, 4, 8, 16, 30 and 30 s', (_, outcome, isTold) => {
    const bench = createBench();
    const pod = badPod('a');
    const told = { type: 'delete-ended', ...pod, outcome: { kind: 'failed', error: conflict } };
    bench.judgeAt(0, pod);
    let now = 5;
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      bench.answer(now, pod, outcome);
      const early = bench.judgeAt(now + waitMs - 1, pod);
      expect([early.deletions, early.events, early.nextAt]).toEqual([[], [], now + waitMs]);
      const { deletions, events } = bench.judgeAt(now + waitMs, pod);
      expect([names(deletions), events]).toEqual([['a'], isTold ? [told] : []]);
      now += waitMs + 5;
    }
  });

  it('does not delete a pod again that was gone', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'));
    bench.answer(1, badPod('a'), { kind: 'gone' });
    expect(bench.judgeAt(60_000, badPod('a')).deletions).toEqual([]);
    // Nothing was deleted, so the pod that replaces it does not wait.
    expect(names(bench.judgeAt(60_001, badPod('b')).deletions)).toEqual(['b']);
  });

  it('retries a failed delete when the server requests it, even if the watch loses the pod meanwhile, or another pod of the owner appears', () => {
    const bench = createBench();
    const pod = badPod('a');
    bench.judgeAt(0, pod);
    bench.answer(0, pod, refused(45_000));
    bench.judgeAt(1);
    expect(bench.judgeAt(2, pod).nextAt).toBe(45_000);
    expect(names(bench.judgeAt(3, pod, badPod('b')).deletions)).toEqual(['b']);
    expect(bench.judgeAt(4, pod).nextAt).toBe(45_000);
  });

  it.each([
    ['may have taken effect', lost, []],
    ['ended in a bug', { kind: 'failed', error: new TypeError('a bug') } as const, []],
    ['was refused', refused(), ['b']],
  ])('after a failed delete that %s, the pod that replaces it waits, or does not', (_, outcome, deleted) => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'));
    bench.answer(0, badPod('a'), outcome);
    const { deletions } = bench.judgeAt(0, badPod('b'));
    expect(names(deletions)).toEqual(deleted);
    for (const asked of deletions) bench.answer(500, asked, { kind: 'gone' });
    // The pod itself belongs to the batch and does not wait longer.
    expect(names(bench.judgeAt(1_000, badPod('a')).deletions)).toEqual(['a']);
  });

  it('retries a delete that was not sent', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'));
    bench.answer(0, badPod('a'), { kind: 'unsent' });
    expect(bench.judgeAt(1, badPod('a')).deletions).toHaveLength(1);
  });

  it('forgets an owner ten minutes after its last delete, but not while a response is awaited', () => {
    const bench = createBench();
    bench.judgeAt(0, badPod('a'), badPod('b', 'other'));
    bench.answer(0, badPod('a'));
    bench.judgeAt(599_999);
    expect([...bench.owners().keys()]).toEqual(['uid-rs', 'uid-other']);
    bench.judgeAt(600_000);
    expect([...bench.owners().keys()]).toEqual(['uid-other']);
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
          refused(),
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
          for (const seen of bench.judgeAt(now, pod).deletions) {
            bench.answer(now, seen, outcome);
            if (outcome.kind !== 'deleted') continue;
            expect(roundOf.has(seen.pod.uid)).toBe(false);
            roundOf = roundOf.set(seen.pod.uid, now);
            batchStarts.push(now);
          }
        }
        const gaps = batchStarts.slice(1).map((at, index) => at - (batchStarts[index] ?? 0));
        // The waits start again at 10 s once the owner's back-off is reset after ten minutes.
        const isReset = gaps.some((gap) => gap >= 600_000);
        for (const [index, gap] of gaps.entries()) {
          expect(gap).toBeGreaterThanOrEqual(isReset ? 10_000 : Math.min(10_000 * 2 ** index, 80_000));
        }
      }),
    );
  });
});
