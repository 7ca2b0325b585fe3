import { describe, expect, it } from 'vitest';
import { linesOfChanges } from './changes.ts';
import type { ShootSnapshot } from './snapshot.ts';
import { component, loopingPod, shootStatus, snapshotOf, takenAt } from './testing/snapshots.ts';

const textsOf = (before: Partial<ShootSnapshot>, after: Partial<ShootSnapshot>): readonly string[] =>
  linesOfChanges(snapshotOf(shootStatus('alpha', before)), snapshotOf(shootStatus('alpha', after))).map(
    ({ about, text }) => `${about}: ${text}`,
  );

const nodes = (ready: string, ageMs = 1_000): ShootSnapshot['nodes'] =>
  shootStatus('alpha').nodes.map((node) => ({ ...node, ready, renewedAt: takenAt - ageMs }));

describe('the lines of changes', () => {
  it.each<[change: Partial<ShootSnapshot>, begin: readonly string[], end: readonly string[]]>([
    [{ answers: false, nodes: [] }, ['kube-apiserver is down'], []],
    [{ weeded: [{ pod: 'kube-apiserver-1', resourceVersion: 1 }] }, ['the weeder deleted kube-apiserver-1'], []],
    [{ nodes: nodes('Unknown') }, ['KCM has given up 2 nodes (Unknown): 0 of 2 Ready'], ['nodes: 2 of 2 Ready']],
    [{ nodes: nodes('True', 22_500) }, ['2 of 2 leases expired'], ['all leases are renewed']],
    [{ machines: ['shoot--sim--alpha-worker-2'] }, ['MCM deleted healthy machine shoot--sim--alpha-worker-1'], []],
    [
      { components: [component('kube-apiserver', { replicas: 0, active: true, stored: '1' })] },
      ['kube-apiserver              1 -> 0', '  annotated replicas=1, meltdown-protection-active'],
      ['kube-apiserver              0 -> 1', '  annotations removed', 'kube-apiserver              ready again'],
    ],
    [
      { pods: [loopingPod('kube-apiserver', takenAt), loopingPod('kube-scheduler', takenAt)] },
      ['crash loop: kube-apiserver waits 8s (3 restarts)'],
      [],
    ],
    [{ state: 'held', why: '3/5 expired; held: kcm' }, ['held: 3/5 expired'], ['healthy']],
    [{ state: 'blind', why: 'connection reset; as of x' }, ['blind: connection reset'], ['healthy']],
    // A good first verdict is not reported.
    [{ state: 'not probed' }, ['not probed'], []],
  ])('report %j once, and its end once', (change, begin, end) => {
    const prefixed = (lines: readonly string[]): readonly string[] => lines.map((text) => `alpha: ${text}`);
    expect(textsOf({}, change)).toEqual(prefixed(begin));
    expect(textsOf(change, change)).toEqual([]);
    expect(textsOf(change, {})).toEqual(prefixed(end));
  });

  it('are in the order in which the objects were written', () => {
    const [down, up] = [{ replicas: 0 }, { replicas: 1 }];
    const [kcm, mcm, etcd] = ['kube-controller-manager', 'machine-controller-manager', 'etcd-main'];
    const before = [component(kcm, up), component(mcm, up), component(etcd, { readyReplicas: 0 })];
    const after = [
      component(kcm, { ...down, resourceVersion: 101 }),
      component(mcm, { ...down, resourceVersion: 99 }),
      component(etcd, { resourceVersion: 9 }),
    ];
    const weeded = [
      { pod: 'b', resourceVersion: 10 },
      { pod: 'a', resourceVersion: 100 },
    ];
    expect(textsOf({ components: before }, { components: after, weeded })).toEqual([
      'alpha: etcd-main                   ready again',
      'alpha: the weeder deleted b',
      'alpha: machine-controller-manager  1 -> 0',
      'alpha: the weeder deleted a',
      'alpha: kube-controller-manager     1 -> 0',
    ]);
  });

  it('report a crash loop at each new back-off of a pod', () => {
    const waiting = (endsAt: number) => ({ pods: [loopingPod('kube-apiserver', endsAt)] });
    expect(textsOf(waiting(takenAt), waiting(takenAt + 1))).toHaveLength(1);
  });

  it('are absent for a new shoot', () => {
    expect(linesOfChanges(snapshotOf(), snapshotOf(shootStatus('alpha', { state: 'blind' })))).toEqual([]);
  });
});
