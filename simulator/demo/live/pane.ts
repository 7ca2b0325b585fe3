import { seconds } from '../line.ts';
import { type DeploymentSnapshot, type NodeSnapshot, type ShootSnapshot, isHeld, isUp } from '../snapshot.ts';
import { type Row, type Segment, segment } from './row.ts';

export interface PaneInit {
  readonly shoot: ShootSnapshot;
  /** Milliseconds since the epoch. */
  readonly wall: number;
  /** Age from which a lease counts as expired, and from which KCM gives up the node. */
  readonly limitMs: number;
  readonly graceMs: number;
  readonly isProtected: boolean;
}

/** So many nodes are shown, and so many rows they take in any case. */
const nodeRows = 5;
const barCells = 12;

/** Its age out of the grace, with a mark at the limit: `#####....|..` */
export const leaseBar = (ageMs: number, { limitMs, graceMs }: Pick<PaneInit, 'limitMs' | 'graceMs'>): string => {
  const filled = Math.floor((Math.min(Math.max(ageMs, 0), graceMs) / graceMs) * barCells);
  const mark = Math.floor((limitMs / graceMs) * barCells);
  return Array.from({ length: barCells }, (_, cell) => (cell < filled ? '#' : cell === mark ? '|' : '.')).join('');
};

/** `shoot--sim--alpha-worker-1` -> `worker-1` */
const shortName = (node: string): string => node.split('-').slice(-2).join('-');

const nodeRow = ({ name, ready, renewedAt }: NodeSnapshot, init: PaneInit): Row => {
  const state = ready === 'True' ? segment('Ready    ') : segment(ready.padEnd(9), 'bad');
  const label = segment(shortName(name).padEnd(10));
  if (renewedAt === undefined) return [label, state, segment('no lease')];
  const age = Math.max(0, init.wall - renewedAt);
  const tone = age >= init.limitMs ? 'bad' : 'good';
  return [label, state, segment(seconds(age).padStart(6)), segment(' '), segment(leaseBar(age, init), tone)];
};

const numberOf = ({ name }: NodeSnapshot): number => Number(name.split('-').at(-1));

const nodeRowsOf = (init: PaneInit): readonly Row[] => {
  const { answers, nodes } = init.shoot;
  if (!answers) return [[segment('no kube-apiserver to ask for nodes', 'bad')]];
  const sorted = [...nodes].sort((a, b) => numberOf(a) - numberOf(b));
  const shown = sorted.length > nodeRows ? sorted.slice(0, nodeRows - 1) : sorted;
  const more = sorted.length - shown.length;
  return [
    ...shown.map((node) => nodeRow(node, init)),
    ...(more > 0 ? [[segment(`and ${String(more)} more`, 'dim')]] : []),
  ];
};

const waitOf = ({ pods }: ShootSnapshot, component: string, wall: number): Segment | undefined => {
  const ends = pods.flatMap((pod) =>
    pod.component === component && pod.backOff !== undefined ? [pod.backOff.endsAt] : [],
  );
  if (ends.length === 0) return undefined;
  return segment(`waits ${String(Math.max(0, Math.ceil((Math.min(...ends) - wall) / 1_000)))}s`, 'bad');
};

const standing = (deployment: DeploymentSnapshot, { shoot, wall }: PaneInit): Segment => {
  const { name, replicas, readyReplicas, stored = '?' } = deployment;
  if (isHeld(deployment)) return segment(`held, was ${stored}`, 'act');
  const counts = `${String(readyReplicas)}/${String(replicas)}`;
  if (isUp(deployment)) return segment(counts);
  return waitOf(shoot, name, wall) ?? segment(counts, 'bad');
};

const etcdStanding = ({ pods }: ShootSnapshot): Segment => {
  const etcds = pods.filter(({ component }) => component === 'etcd-main');
  const ready = etcds.filter((pod) => pod.ready).length;
  return segment(`${String(ready)}/${String(etcds.length)}`, ready < etcds.length ? 'bad' : 'plain');
};

const faultOf = ({ isCut, isEtcdDown }: ShootSnapshot): readonly Segment[] => {
  const faults = [...(isCut ? ['kubelets cut off'] : []), ...(isEtcdDown ? ['etcd killed'] : [])];
  return faults.length === 0 ? [] : [segment(`  ${faults.join(', ')}`, 'bad')];
};

/** One shoot: what is done to it, its nodes with their leases, its control plane. Always as many rows. */
export const shootPane = (init: PaneInit): readonly Row[] => {
  const { shoot, isProtected } = init;
  const nodes = nodeRowsOf(init);
  const names = ['etcd-main', ...shoot.deployments.map(({ name }) => name)];
  const standings = [etcdStanding(shoot), ...shoot.deployments.map((deployment) => standing(deployment, init))];
  const care = isProtected ? '' : ', left alone';
  return [
    [segment(`${shoot.name}${care}`, 'act'), ...faultOf(shoot)],
    ...nodes,
    ...Array.from({ length: nodeRows - nodes.length }, () => []),
    ...names.map((name, index) => [segment(`${name.padEnd(26)} `), standings[index] ?? segment('')]),
  ];
};
