import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ShootSnapshot } from '../snapshot.ts';
import { helpRows } from './help.ts';
import { leaseBar } from './pane.ts';
import { type Row, fit, widthOf } from './row.ts';
import { type Canvas, renderScreen } from './screen.ts';
import { type LiveState, beginLive, takeSnapshot, takeVerdict } from './state.ts';
import { backdrop, deployment, shootSnapshot, snapshotOf, wall } from './testing/snapshots.ts';

const textOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => row.map(({ text }) => text).join(''));

const usual: Canvas = { columns: 80, rows: 24, at: 83_000 };

const seen = (...shoots: readonly ShootSnapshot[]): LiveState =>
  takeSnapshot(beginLive(['alpha', 'twin'], 'twin'), snapshotOf(...shoots));

/** The screen of alpha and its twin, of which alpha is as `change` says. */
const screenOf = (change: Partial<ShootSnapshot>, canvas: Canvas = usual): readonly string[] =>
  textOf(renderScreen(seen(shootSnapshot('alpha', change), shootSnapshot('twin')), backdrop, canvas));

const looping = (component: string, endsAt: number): ShootSnapshot['pods'][number] => ({
  name: `${component}-1`,
  uid: component,
  component,
  ready: false,
  deleting: false,
  restarts: 3,
  backOff: { ms: 8_000, endsAt },
});

const node = (number: number, ready: string, ageMs: number) => ({
  name: `shoot--sim--alpha-worker-${String(number)}`,
  ready,
  renewedAt: wall - ageMs,
});

describe('the screen', () => {
  it('shows two shoots that are well', () => {
    expect(screenOf({}).map((row) => row.trimEnd())).toEqual([
      'dwd demo  1:23  prober, weeder                 KUBECONFIG=/tmp/d/seed.kubeconfig',
      '    shoot    Ready  lease ages       prober                  given up  replaced',
      '> 1 alpha    2/2    1.0s to 2.0s     -                       0         0',
      '  2 twin     2/2    1.0s to 2.0s     -                       0         0',
      'alpha                                    twin, left alone',
      'worker-1  Ready      1.0s .........|..   worker-1  Ready      1.0s .........|..',
      'worker-2  Ready      2.0s .........|..   worker-2  Ready      2.0s .........|..',
      '',
      '',
      '',
      'etcd-main                  1/1           etcd-main                  1/1',
      'kube-apiserver             1/1           kube-apiserver             1/1',
      'kube-controller-manager    1/1           kube-controller-manager    1/1',
      'machine-controller-manager 1/1           machine-controller-manager 1/1',
      'what happened ------------------------------------------------------------------',
      ...Array.from({ length: 8 }, () => ''),
      '1-2 pick  c cut  r restore  e kill etcd  m mend  t twin follows  ? help  q quit',
    ]);
  });

  it.each<[what: string, change: Partial<ShootSnapshot>, told: RegExp]>([
    ['what is done to it', { isCut: true, isEtcdDown: true }, /^alpha {2}kubelets cut off, etcd killed/m],
    ['a lease that expired', { nodes: [node(1, 'True', 25_000)] }, /^worker-1 {2}Ready {5}25.0s ##########../m],
    [
      'a node that was given up',
      { nodes: [node(1, 'Unknown', 31_000)] },
      /^worker-1 {2}Unknown {3}31.0s ############/m,
    ],
    ['how many are ready', { nodes: [node(1, 'Unknown', 31_000), node(2, 'True', 1)] }, /^> 1 alpha {4}1\/2 /m],
    ['a clock that is ahead', { nodes: [node(1, 'True', -300)] }, /^worker-1 {2}Ready {6}0\.0s \.{9}/m],
    [
      'a node without a lease',
      { nodes: [{ name: 'shoot--sim--alpha-worker-12', ready: 'True' }] },
      /^worker-12 Ready {4}no lease/m,
    ],
    ['more nodes than rows', { nodes: [1, 2, 3, 4, 5, 6, 7].map((n) => node(n, 'True', 0)) }, /^and 3 more/m],
    ['no API server', { answers: false, nodes: [] }, /^no kube-apiserver to ask for nodes/m],
    ['no API server, in the table', { answers: false, nodes: [] }, /^> 1 alpha {4}\? {6}- /m],
    [
      'what is held',
      { deployments: [deployment('kcm', { replicas: 0, readyReplicas: 0, active: true, stored: '2' })] },
      /^kcm {24}held, was 2/m,
    ],
    [
      'what is at 0 for another reason',
      { deployments: [deployment('kcm', { replicas: 0, readyReplicas: 0 })] },
      /^kcm {24}0\/0/m,
    ],
    [
      'a crash loop, by the pod that is started next',
      {
        deployments: [deployment('kcm', { replicas: 2, readyReplicas: 0 })],
        pods: [looping('kcm', wall + 7_100), looping('kcm', wall + 3_100)],
      },
      /^kcm {24}waits 4s/m,
    ],
    [
      'a crash loop that is over',
      { deployments: [deployment('kcm')], pods: [looping('kcm', wall + 7_100)] },
      /^kcm {24}1\/1/m,
    ],
    ['an etcd that is down', { pods: [looping('etcd-main', wall)] }, /^etcd-main {18}0\/1/m],
  ])('shows %s', (_, change, told) => {
    expect(screenOf(change).join('\n')).toMatch(told);
  });

  it.each([
    ['healthy', 'alpha', 'healthy'],
    ['unhealthy', 'alpha', 'unhealthy '],
    ['unhealthy', 'twin', 'unhealthy, ignored'],
    ['skipped', 'alpha', 'skipped'],
    ['api_server_unreachable', 'alpha', 'api_server_unreachable  0'],
  ] as const)('shows the verdict %s on %s', (word, shoot, told) => {
    const state = takeVerdict(seen(shootSnapshot('alpha'), shootSnapshot('twin')), 0, {
      shoot,
      verdict: { word, reason: 'because' },
    });
    const [, , ...table] = textOf(renderScreen(state, backdrop, usual));
    expect(table.find((row) => row.slice(4).startsWith(shoot))).toContain(`  ${told}`);
  });

  it('puts the twin next to the shoot that is picked, and next to the first when it is picked itself', () => {
    const state = { ...seen(shootSnapshot('alpha'), shootSnapshot('twin')), picked: 'twin' };
    const text = textOf(renderScreen(state, backdrop, usual));
    expect(text[4]).toMatch(/^alpha {36}twin, left alone/);
    expect(text[3]).toMatch(/^> 2 twin/);
  });

  it('says on its other page where the kubeconfigs and logs are, all of a path that is too long for a row', () => {
    const long = `/tmp/${'x'.repeat(100)}/seed.kubeconfig`;
    const state: LiveState = { ...seen(shootSnapshot('alpha')), page: 'help' };
    const rows = textOf(renderScreen(state, { ...backdrop, seedKubeconfig: long }, usual));
    expect(rows.map((row) => row.trim()).join('')).toContain(long);
    const { shootKubeconfigs, logs, careConfig } = backdrop;
    for (const path of [...shootKubeconfigs, ...logs, careConfig]) expect(rows.join('\n')).toContain(path);
  });

  it('has room for all of its other page', () => {
    const of = (name: string): string => `/tmp/dwd-demo-abcdef/${name}`;
    const whole = {
      ...backdrop,
      seedKubeconfig: of('seed.kubeconfig'),
      shootKubeconfigs: ['alpha', 'bravo', 'charlie', 'twin'].map((name) => of(`${name}.kubeconfig`)),
      careConfig: of('care.yaml'),
      logs: ['prober', 'weeder'].map((name) => `/tmp/dwd-demo-abcdef-${name}.log`),
    };
    const state: LiveState = { ...seen(shootSnapshot('alpha')), page: 'help' };
    const last = helpRows(whole, usual.columns).at(-1) ?? [];
    expect(textOf(renderScreen(state, whole, usual))).toContain(textOf([fit(last, usual.columns)])[0]);
  });

  it('is as large as the terminal, whatever that is and whatever there is to show', () => {
    const shoots = fc.record({
      isCut: fc.boolean(),
      isEtcdDown: fc.boolean(),
      answers: fc.boolean(),
      nodes: fc.array(fc.record({ name: fc.string(), ready: fc.constantFrom('True', 'False', 'Unknown', 'absent') }), {
        maxLength: 9,
      }),
    });
    const canvases = fc.record({
      columns: fc.integer({ min: 1, max: 200 }),
      rows: fc.integer({ min: 1, max: 80 }),
      at: fc.nat(10_000_000),
    });
    fc.assert(
      fc.property(shoots, canvases, fc.constantFrom('shoots', 'help'), (change, canvas, page) => {
        const state: LiveState = { ...seen(shootSnapshot('alpha', change), shootSnapshot('twin')), page };
        const rows = renderScreen(state, backdrop, canvas);
        expect(rows).toHaveLength(canvas.rows);
        expect(new Set(rows.map(widthOf))).toEqual(new Set([canvas.columns]));
        // The keys are there even where nothing else has room.
        expect(textOf(rows).at(-1)).toMatch(/^1/);
      }),
    );
  });

  it('has room before the first look', () => {
    const rows = textOf(renderScreen(beginLive(['alpha', 'twin'], 'twin'), backdrop, usual));
    expect(rows).toHaveLength(24);
    expect(rows[1]).toMatch(/^looking/);
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
    expect(leaseBar(ageMs, backdrop)).toBe(bar);
  });
});
