import { describe, expect, it } from 'vitest';
import { type Show, runShow, untold } from '../testing/show.ts';

/** What was seen of the prober: down in time, nodes, machines, restored, others. */
const seenOfProber = ({ findings }: Show): readonly boolean[] => findings.slice(0, 5).map((finding) => finding.seen);

describe("the prober's story", () => {
  it('tells protection and restoration', async () => {
    const show = await runShow();
    expect(seenOfProber(show)).toEqual([true, true, true, true, true]);
    expect(
      untold(show.lines, [
        'alpha    the network between its kubelets and its API server is cut',
        '0 of 5 expired',
        '3 of 5 leases expired: threshold 0.6 crossed',
        'alpha    machine-controller-manager  1 -> 0',
        'alpha      annotated replicas=1, meltdown-protection-active',
        'alpha    cluster-autoscaler          1 -> 0',
        'alpha    kube-controller-manager     2 -> 0',
        'alpha      annotated replicas=2, meltdown-protection-active',
        'all are down, ',
        'KCM would now give up nodes',
        'by now KCM would have given up every node; all 5 still Ready',
        'the network is repaired',
        'kubelets are back: 5 of 5 leases renewed',
        'alpha    kube-controller-manager     ready again',
        'machine-controller-manager  0 -> 1',
        'alpha    machine-controller-manager  ready again',
        'cluster-autoscaler          0 -> 1',
        'alpha    cluster-autoscaler          ready again',
      ]),
    ).toEqual([]);
  });

  it('without a prober shows what that costs', async () => {
    const show = await runShow({ withProber: false });
    expect(seenOfProber(show)).toEqual([false, false, false, false, true]);
    expect(show.lastedMs).toBeLessThan(60_000);
    expect(
      untold(show.lines, [
        'no prober runs',
        '3 of 5 leases expired',
        'KCM has given up',
        ': 0 of 5 Ready',
        'MCM deleted healthy machine shoot--sim--alpha-worker-',
        'the network is repaired',
        'the end',
      ]),
    ).toEqual([]);
  });

  it('does not pass when the prober cannot write', async () => {
    const show = await runShow({
      meddle: (scenario) => {
        scenario.mayWrite = false;
      },
    });
    expect(seenOfProber(show)).toEqual([false, false, false, false, true]);
  });

  it('does not pass when the prober is too late', async () => {
    const show = await runShow({
      meddle: (scenario) => {
        scenario.mayWrite = false;
        scenario.clock.timer(20_100, () => {
          scenario.mayWrite = true;
        });
      },
    });
    expect(seenOfProber(show)[0]).toBe(false);
    expect(show.lines.join('\n')).toContain('all are down, but too late');
  });

  it('does not pass when the prober restores nothing', async () => {
    const show = await runShow({
      meddle: ({ clock, seedLine }) => {
        clock.timer(25_000, () =>
          seedLine.setFaults(({ method }) => (method === 'PATCH' ? { status: 403 } : undefined)),
        );
      },
    });
    expect(seenOfProber(show)).toEqual([true, true, true, false, true]);
    expect(show.lastedMs).toBeLessThan(80_000);
  });

  it('does not pass when another shoot suffers', async () => {
    const show = await runShow({
      meddle: ({ clock, world }) => {
        clock.timer(20_000, () => world.shoot('charlie').cutKubelets());
      },
    });
    expect(seenOfProber(show).at(-1)).toBe(false);
  });
});
