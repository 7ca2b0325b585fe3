import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaseBar } from './pane.ts';
import type { Paint } from './row.ts';
import { type ScreenInput, statusScreen } from './screen.ts';
import type { ShootSnapshot } from './snapshot.ts';
import { component, loopingPod, shootStatus, snapshotOf, takenAt } from './testing/snapshots.ts';

const plain: Paint = (_, text) => text;
const usual = { columns: 80, rows: 24 };

const inputOf = (...shoots: readonly ShootSnapshot[]): ScreenInput => ({
  snapshot: snapshotOf(...shoots),
  title: 'dwd status',
  connection: 'KUBECONFIG=/tmp/d/seed.kubeconfig',
  openMs: 83_000,
  selected: 'alpha',
  compared: 'twin',
  notes: new Map([['twin', 'cut off']]),
  events: [{ at: 61_000, line: { about: 'alpha', text: 'all leases are renewed', tone: 'plain' } }],
  keys: '1-2 pick  q quit',
});

/** Returns the screen of alpha with `change`, beside its twin. */
const screenWith = (change: Partial<ShootSnapshot>): readonly string[] =>
  statusScreen(inputOf(shootStatus('alpha', change), shootStatus('twin')), usual, plain);

const node = (number: number, ready: string, ageMs: number) => ({
  name: `shoot--sim--alpha-worker-${String(number)}`,
  ready,
  renewedAt: takenAt - ageMs,
});
const held = (name: string, stored: string) => component(name, { replicas: 0, readyReplicas: 0, active: true, stored });

describe('the screen', () => {
  it('shows two healthy shoots', () => {
    expect(screenWith({}).map((row) => row.trimEnd())).toEqual([
      'dwd status  1:23  prober, weeder               KUBECONFIG=/tmp/d/seed.kubeconfig',
      '    SHOOT  STATE    LEASES       SINCE  HELD  NEXT',
      '> 1 alpha  healthy  0/2 expired  1m0s   -     -',
      '  2 twin   healthy  0/2 expired  1m0s   -     -',
      'alpha                                    twin  cut off',
      'worker-1  Ready      1.0s .........|..   worker-1  Ready      1.0s .........|..',
      'worker-2  Ready      2.0s .........|..   worker-2  Ready      2.0s .........|..',
      '',
      '',
      '',
      'etcd-main                  1/1           etcd-main                  1/1',
      'kube-apiserver             1/1           kube-apiserver             1/1',
      'kube-controller-manager    1/1           kube-controller-manager    1/1',
      'machine-controller-manager 1/1           machine-controller-manager 1/1',
      'recent changes -----------------------------------------------------------------',
      ' 1:01  alpha    all leases are renewed',
      ...Array.from({ length: 7 }, () => ''),
      '1-2 pick  q quit',
    ]);
  });

  it.each<[what: string, change: Partial<ShootSnapshot>, shown: RegExp]>([
    [
      'state, leases, held resources and the next step',
      {
        state: 'held',
        since: takenAt - 32_400,
        next: 'when leases are renewed',
        nodes: [node(1, 'True', 25_000), node(2, 'True', 1)],
        components: [held('kube-controller-manager', '2'), held('cluster-autoscaler', '1')],
      },
      /^> 1 alpha {2}HELD {5}1\/2 expired {2}32s {4}kcm 2, ca 1 {2}when leases are renewed/m,
    ],
    [
      'an outage without protection',
      { state: 'paused', isUnmet: true, next: 'until 14:00' },
      /^> 1 alpha {2}! PAUSED {2}0\/2 expired {2}1m0s {3}- {5}until 14:00/m,
    ],
    ['a shoot that ignore-scaling leaves unprotected', { ignored: ['kcm'] }, /^> 1 alpha {2}NOT PROTECTED {2}0\/2/m],
    [
      'a shoot that ignore-scaling leaves unprotected in an outage',
      { state: 'confirming', isUnmet: true, ignored: ['kcm'] },
      /^> 1 alpha {2}! NOT PROTECTED {2}0\/2/m,
    ],
    [
      'held resources beside one with ignore-scaling',
      { state: 'held', ignored: ['ca'], components: [held('kcm', '2')] },
      /^> 1 alpha {2}HELD {5}0\/2/m,
    ],
    ['no leases', { state: 'blind', answers: false, nodes: [] }, /^> 1 alpha {2}BLIND {4}- {12}1m0s/m],
    ['no API server', { answers: false, nodes: [] }, /^no ready kube-apiserver: nodes unknown/m],
    ['a lease that expired', { nodes: [node(1, 'True', 25_000)] }, /^worker-1 {2}Ready {5}25.0s ##########../m],
    ['a node given up', { nodes: [node(1, 'Unknown', 31_000)] }, /^worker-1 {2}Unknown {3}31.0s ############/m],
    ['a clock that is ahead', { nodes: [node(1, 'True', -300)] }, /^worker-1 {2}Ready {6}0\.0s \.{9}/m],
    ['no lease', { nodes: [{ name: 'shoot--sim--alpha-worker-12', ready: 'True' }] }, /^worker-12 Ready {4}no lease/m],
    ['more nodes than rows', { nodes: [1, 2, 3, 4, 5, 6, 7].map((n) => node(n, 'True', 0)) }, /^and 3 more/m],
    ['a held resource', { components: [held('kcm', '2')] }, /^kcm {24}held, was 2/m],
    ['a resource at 0', { components: [component('kcm', { replicas: 0, readyReplicas: 0 })] }, /^kcm {24}0\/0/m],
    [
      'a resource that is not ready',
      { components: [component('etcd-main', { readyReplicas: 0 })] },
      /^etcd-main {18}0\/1/m,
    ],
    [
      'a crash loop, by the pod that starts next',
      {
        components: [component('kcm', { readyReplicas: 0 })],
        pods: [loopingPod('kcm', takenAt + 7_100), loopingPod('kcm', takenAt + 3_100)],
      },
      /^kcm {24}waits 4s/m,
    ],
    [
      'a crash loop that is over',
      { components: [component('kcm')], pods: [loopingPod('kcm', takenAt + 7_100)] },
      /^kcm {24}1\/1/m,
    ],
    ['control characters as text', { next: '\u001b[2J' }, /^> 1 alpha .* \\u001b\[2J/m],
  ])('shows %s', (_, change, shown) => {
    expect(screenWith(change).join('\n')).toMatch(shown);
  });

  it('leaves room for the pane of the selected shoot among many', () => {
    const shoots = Array.from({ length: 250 }, (_, index) => shootStatus(`s${String(index + 1)}`));
    const { compared: _, ...input } = { ...inputOf(...shoots), selected: 's200' };
    const rows = statusScreen(input, usual, plain);
    expect(rows.filter((row) => /^[> ] \d+ +s\d/.test(row)).length).toBeGreaterThan(9);
    expect(rows.filter((row) => row.startsWith('>')).map((row) => row.slice(0, 10))).toEqual(['> 200 s200']);
    expect(rows.some((row) => row.startsWith('s200'))).toBe(true);
  });

  it('can be coloured without getting wider', () => {
    const painted = statusScreen(inputOf(shootStatus('alpha'), shootStatus('twin')), usual, (tone, text) =>
      tone === 'plain' ? text : `<${tone}>${text}<>`,
    );
    expect(painted[2]).toContain('<good>healthy');
    expect(painted.map((row) => row.replaceAll(/<\w*>/g, ''))).toEqual(screenWith({}));
  });

  it('is always as large as the terminal', () => {
    const change = fc.record({
      answers: fc.boolean(),
      next: fc.string(),
      nodes: fc.array(fc.record({ name: fc.string(), ready: fc.constantFrom('True', 'False', 'Unknown', 'absent') }), {
        maxLength: 9,
      }),
    });
    const sizes = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 80 }) });
    fc.assert(
      fc.property(change, sizes, fc.boolean(), (alpha, size, hasPage) => {
        const input = inputOf(shootStatus('alpha', alpha), shootStatus('twin'));
        const rows = statusScreen({ ...input, ...(hasPage ? { page: ['help', 'x'.repeat(300)] } : {}) }, size, plain);
        expect(rows).toHaveLength(size.rows);
        expect(new Set(rows.map((row) => row.length))).toEqual(new Set([size.columns]));
        // The keys are shown even if there is no room for anything else.
        expect(rows.at(-1)).toMatch(/^1/);
      }),
    );
  });

  it('shows all of a page, including lines that are too long for a row', () => {
    const long = `/tmp/${'x'.repeat(100)}/seed.kubeconfig`;
    const rows = statusScreen({ ...inputOf(), page: ['help', long] }, usual, plain);
    expect(rows[1]?.trim()).toBe('help');
    expect(rows.map((row) => row.trim()).join('')).toContain(long);
    expect(rows.join('\n')).not.toContain('recent changes');
  });

  it('has its full size before the first snapshot', () => {
    const { snapshot: _, ...input } = inputOf();
    const rows = statusScreen(input, usual, plain);
    expect(rows).toHaveLength(24);
    expect(rows[1]).toMatch(/^loading/);
  });
});

describe('the bar of a lease', () => {
  it.each([
    [0, '.........|..'],
    [-1_000, '.........|..'],
    [2_400, '.........|..'],
    [2_500, '#........|..'],
    [22_500, '#########|..'],
    [25_000, '##########..'],
    [30_000, '############'],
    [90_000, '############'],
  ])('of %i ms is %s', (ageMs, bar) => {
    expect(leaseBar(ageMs, snapshotOf())).toBe(bar);
  });
});
