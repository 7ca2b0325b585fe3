import { type Line, seconds } from '../line.ts';
import { type ShootSnapshot, leaseAges } from '../snapshot.ts';
import type { Backdrop } from './backdrop.ts';
import { helpRows } from './help.ts';
import { shootPane } from './pane.ts';
import { type Row, type Segment, beside, fit, segment, widthOf } from './row.ts';
import { type LiveState, noImpact } from './state.ts';

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  /** Milliseconds since the demo began. */
  readonly at: number;
}

const minutes = (ms: number): string =>
  `${String(Math.floor(ms / 60_000))}:${String(Math.floor(ms / 1_000) % 60).padStart(2, '0')}`;

const header = ({ withProber, withWeeder, seedKubeconfig }: Backdrop, { at, columns }: Canvas): Row => {
  const running = [...(withProber ? ['prober'] : []), ...(withWeeder ? ['weeder'] : [])];
  const left = [segment('dwd demo', 'act'), segment(`  ${minutes(at)}  ${running.join(', ') || 'nobody watches'}`)];
  const right = `KUBECONFIG=${seedKubeconfig}`;
  const gap = Math.max(2, columns - widthOf(left) - right.length);
  return [...left, segment(' '.repeat(gap)), segment(right, 'dim')];
};

const heading = (text: string, columns: number): Row => [segment(`${text} ${'-'.repeat(columns)}`, 'dim')];

const verdictOf = ({ verdicts, twin }: LiveState, name: string): Segment => {
  const word = verdicts.get(name)?.word;
  if (word === 'unhealthy') return segment(name === twin ? `${word}, ignored` : word, 'bad');
  return segment(word ?? '-', word === 'healthy' ? 'good' : 'plain');
};

const pad = ({ text, tone }: Segment, columns: number): Segment => segment(text.padEnd(columns), tone);

const agesOf = (shoot: ShootSnapshot, wall: number): string => {
  const ages = leaseAges(shoot, wall);
  const [youngest, oldest] = [ages[0], ages.at(-1)];
  if (youngest === undefined || oldest === undefined) return '-';
  return `${seconds(Math.max(0, youngest))} to ${seconds(Math.max(0, oldest))}`;
};

const count = (value: number): Segment => segment(String(value), value > 0 ? 'bad' : 'plain');

const tableRow = (state: LiveState, shoot: ShootSnapshot, wall: number): Row => {
  const { name, nodes, answers } = shoot;
  const { nodesGivenUp, machinesReplaced } = state.impacts.get(name) ?? noImpact;
  const ready = nodes.filter((node) => node.ready === 'True').length;
  const readiness = answers ? `${String(ready)}/${String(nodes.length)}` : '?';
  return [
    segment(`${name === state.picked ? '>' : ' '} ${String(state.shoots.indexOf(name) + 1)} `, 'act'),
    segment(name.padEnd(9)),
    pad(segment(readiness, ready < nodes.length ? 'bad' : 'plain'), 7),
    segment(agesOf(shoot, wall).padEnd(17)),
    pad(verdictOf(state, name), 24),
    pad(count(nodesGivenUp), 10),
    count(machinesReplaced),
  ];
};

const tableHeading = `    ${'shoot'.padEnd(9)}${'Ready'.padEnd(7)}${'lease ages'.padEnd(17)}${'prober'.padEnd(24)}given up  replaced`;

const happeningRow = (at: number, { about, text, tone }: Line): Row => [
  segment(`${minutes(at).padStart(5)}  ${about.padEnd(7)}  `, 'dim'),
  segment(text, tone),
];

const footer = ({ shoots, twinFollows }: LiveState): Row => {
  const follows = twinFollows ? 'twin follows' : 'twin apart';
  return [
    segment(
      `1-${String(shoots.length)} pick  c cut  r restore  e kill etcd  m mend  t ${follows}  ? help  q quit`,
      'act',
    ),
  ];
};

const shootsPage = (state: LiveState, backdrop: Backdrop, columns: number): readonly Row[] => {
  const { snapshot, picked, twin } = state;
  if (snapshot === undefined) return [[segment('looking ...', 'dim')]];
  const { limitMs, graceMs } = backdrop;
  const paneOf = (name: string): readonly Row[] => {
    const shoot = snapshot.shoots.find((candidate) => candidate.name === name);
    const init = { wall: snapshot.wall, limitMs, graceMs, isProtected: name !== twin };
    return shoot === undefined ? [] : shootPane({ shoot, ...init });
  };
  // Where the twin is picked it stands next to the first shoot.
  const partner = picked === twin ? (state.shoots[0] ?? twin) : picked;
  return [
    [segment(tableHeading, 'dim')],
    ...snapshot.shoots.map((shoot) => tableRow(state, shoot, snapshot.wall)),
    ...beside(paneOf(partner), paneOf(twin), columns),
  ];
};

/** The screen as rows: as many as `canvas` has, each as wide as it is. Pure. */
export const renderScreen = (state: LiveState, backdrop: Backdrop, canvas: Canvas): readonly Row[] => {
  const { columns, rows } = canvas;
  const page = state.page === 'help' ? helpRows(backdrop, columns) : shootsPage(state, backdrop, columns);
  // Of a screen that is too small the keys stay.
  const body = [header(backdrop, canvas), ...page].slice(0, Math.max(0, rows - 1));
  const free = rows - 1 - body.length;
  const latest = state.page === 'help' || free < 2 ? [] : state.happenings.slice(-(free - 1));
  const told = latest.map(({ at, line }) => happeningRow(at, line));
  const news = free < 2 || state.page === 'help' ? [] : [heading('what happened', columns), ...told];
  const filling = Array.from({ length: Math.max(0, free - news.length) }, () => []);
  return [...body, ...news, ...filling, ...(rows > 0 ? [footer(state)] : [])].map((row) => fit(row, columns));
};
