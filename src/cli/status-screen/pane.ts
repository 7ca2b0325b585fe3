import { type Row, type Segment, seconds, segment } from './row.ts';
import {
  type ComponentStatus,
  type NodeStatus,
  type ShootSnapshot,
  type StatusSnapshot,
  isHeld,
  isUp,
  shootIn,
} from './snapshot.ts';

/** Number of rows for nodes, which are reserved even for fewer nodes. */
const nodeRows = 5;
const barCells = 12;

/** Draws a lease's age as a part of the grace period, with a mark at its expiry: `#####....|..` */
export const leaseBar = (
  ageMs: number,
  { leaseExpiryMs, graceMs }: Pick<StatusSnapshot, 'leaseExpiryMs' | 'graceMs'>,
): string => {
  const filled = Math.floor((Math.min(Math.max(ageMs, 0), graceMs) / graceMs) * barCells);
  const mark = Math.floor((leaseExpiryMs / graceMs) * barCells);
  return Array.from({ length: barCells }, (_, cell) => (cell < filled ? '#' : cell === mark ? '|' : '.')).join('');
};

/** Shortens `shoot--sim--alpha-worker-1` to `worker-1`. */
const shortName = (node: string): string => node.split('-').slice(-2).join('-');

const nodeRow = ({ name, ready, renewedAt }: NodeStatus, snapshot: StatusSnapshot): Row => {
  const state = ready === 'True' ? segment('Ready    ') : segment(ready.padEnd(9), 'bad');
  const label = segment(shortName(name).padEnd(10));
  if (renewedAt === undefined) return [label, state, segment('no lease')];
  const age = Math.max(0, snapshot.at - renewedAt);
  const tone = age >= snapshot.leaseExpiryMs ? 'bad' : 'good';
  return [label, state, segment(seconds(age).padStart(6)), segment(' '), segment(leaseBar(age, snapshot), tone)];
};

const numberOf = ({ name }: NodeStatus): number => Number(name.split('-').at(-1));

const nodeRowsOf = ({ answers, nodes }: ShootSnapshot, snapshot: StatusSnapshot): readonly Row[] => {
  if (!answers) return [[segment('no ready kube-apiserver: nodes unknown', 'bad')]];
  const sorted = nodes.toSorted((a, b) => numberOf(a) - numberOf(b));
  const shown = sorted.length > nodeRows ? sorted.slice(0, nodeRows - 1) : sorted;
  const more = sorted.length - shown.length;
  return [
    ...shown.map((node) => nodeRow(node, snapshot)),
    ...(more > 0 ? [[segment(`and ${String(more)} more`, 'dim')]] : []),
  ];
};

/** Returns the rest of the back-off of the pod that starts next; undefined if no pod is in back-off. */
const waitOf = ({ pods }: ShootSnapshot, component: string, at: number): Segment | undefined => {
  const ends = pods.flatMap((pod) =>
    pod.component === component && pod.backOff !== undefined ? [pod.backOff.endsAt] : [],
  );
  if (ends.length === 0) return undefined;
  return segment(`waits ${String(Math.max(0, Math.ceil((Math.min(...ends) - at) / 1_000)))}s`, 'bad');
};

const standing = (component: ComponentStatus, shoot: ShootSnapshot, at: number): Segment => {
  const { name, replicas, readyReplicas, stored = '?' } = component;
  if (isHeld(component)) return segment(`held, was ${stored}`, 'strong');
  const counts = `${String(readyReplicas)}/${String(replicas)}`;
  if (isUp(component)) return segment(counts);
  return waitOf(shoot, name, at) ?? segment(counts, 'bad');
};

/** Draws one shoot with its nodes, their leases and its control plane. `note` is a remark of the caller in the heading. */
export const shootPane = (snapshot: StatusSnapshot, name: string, note = ''): readonly Row[] => {
  const shoot = shootIn(snapshot, name);
  const nodes = nodeRowsOf(shoot, snapshot);
  return [
    [segment(name, 'strong'), segment(`  ${note}`, 'bad')],
    ...nodes,
    ...Array.from({ length: nodeRows - nodes.length }, () => []),
    ...shoot.components.map((component) => [
      segment(`${component.name.padEnd(26)} `),
      standing(component, shoot, snapshot.at),
    ]),
  ];
};
