import { describe, expect, it } from 'vitest';
import { meltdownProtectionAnnotation } from '../../../src/kubernetes/api/scalable.ts';
import { simKinds } from '../../apiserver/kinds.ts';
import type { World } from '../../world/world.ts';
import { type Show, runShow, storyOf, untold } from '../testing/show.ts';

/** What was seen of the weeder: the crash loop, the deletions, the comparison, that the prober kept off. */
const seenOfWeeder = ({ findings }: Show): readonly boolean[] => findings.slice(5).map((finding) => finding.seen);

const deletePods = (world: World, shoot: string): void => {
  const { namespace } = world.shoot(shoot);
  for (const { metadata } of world.store.list(simKinds.Pod, namespace)) world.store.delete(simKinds.Pod, metadata);
};

describe("the weeder's story", () => {
  it('tells the crash loop and how both shoots come out of it', async () => {
    const show = await runShow();
    expect(seenOfWeeder(show)).toEqual([true, true, true, true]);
    expect(
      untold(storyOf(show.lines, 'bravo'), [
        'its etcd fails, and that of twin as well',
        'kube-apiserver is down: it exits when it finds no etcd',
        'kube-controller-manager and 3 more are down: they need it',
        'crash loop: kube-apiserver waits 1s (2 restarts)',
        'crash loop: kube-apiserver waits 8s (5 restarts)',
        'crash loop: kube-apiserver waits 15s (6 restarts)',
        'etcd is mended, in both',
        'etcd is ready again',
        'the weeder deleted kube-apiserver-',
        'kube-apiserver              ready again',
        'the weeder deleted kube-controller-manager-',
        'cluster-autoscaler          ready again',
        'all 5 are ready, ',
      ]),
    ).toEqual([]);
    const twin = storyOf(show.lines, 'twin');
    expect(
      untold(twin, ['nobody deletes its pods: kube-apiserver waits 1', 'kube-apiserver              ready again']),
    ).toEqual([]);
    expect(twin.at(-1)).toMatch(/all 5 are ready, 1\d\.\ds after etcd \(really [45]m(\d+s)?\)$/);
  });

  it('without a weeder shows what that costs', async () => {
    const show = await runShow({ withWeeder: false });
    expect(seenOfWeeder(show)).toEqual([true, false, false, true]);
    expect(show.findings.slice(0, 5).every((finding) => finding.seen)).toBe(true);
    expect(untold(show.lines, ['no weeder runs', 'etcd is ready again', 'the end'])).toEqual([]);
    expect(show.lines.join('\n')).not.toContain('the weeder deleted');
  });

  it('does not take deletions of others for those of the weeder', async () => {
    const show = await runShow({
      withWeeder: false,
      meddle: ({ clock, world }) => clock.timer(27_000, () => deletePods(world, 'bravo')),
    });
    expect(seenOfWeeder(show)[1]).toBe(false);
  });

  it('does not pass when a pod goes that the weeder has left no Event about', async () => {
    const show = await runShow({
      meddle: ({ clock, world }) => {
        clock.timer(20_000, () => deletePods(world, 'bravo'));
      },
    });
    expect(seenOfWeeder(show)[1]).toBe(false);
  });

  it('does not compare with a twin that somebody helps', async () => {
    const show = await runShow({
      meddle: ({ clock, world }) => {
        clock.timer(27_000, () => deletePods(world, 'twin'));
      },
    });
    expect(seenOfWeeder(show)).toEqual([true, true, false, true]);
  });

  it('does not pass when a watchdog scales what has only lost etcd', async () => {
    const show = await runShow({
      meddle: ({ clock, world }) => {
        const ref = { namespace: world.shoot('bravo').namespace, name: 'cluster-autoscaler' };
        const mark = (marks: Readonly<Record<string, string>>) => () =>
          world.store.patch(simKinds.Deployment, ref, (old) => ({
            ...old,
            metadata: { ...old.metadata, annotations: marks },
          }));
        clock.timer(15_000, mark({ [meltdownProtectionAnnotation]: '' }));
        clock.timer(16_000, mark({}));
      },
    });
    expect(seenOfWeeder(show)).toEqual([true, true, true, false]);
  });

  it('ends, and says what is left, when etcd does not come back', async () => {
    const show = await runShow({
      meddle: ({ clock, world }) => {
        clock.timer(26_000, () => world.shoot('twin').breakEtcd());
      },
    });
    expect(seenOfWeeder(show)).toEqual([true, true, true, true]);
    expect(show.findings[7]?.text).toContain('twin is still waiting');
    expect(storyOf(show.lines, 'twin').at(-1)).toMatch(/this is where the demo ends: \d pods still in back-off/);
    expect(show.lastedMs).toBeLessThan(80_000);
  });
});
