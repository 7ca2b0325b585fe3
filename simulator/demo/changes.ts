import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import type { ShootState } from '../../src/status/state/states.ts';
import { plural } from '../../src/status/state/words.ts';
import { type Line, type Tone, line } from './line.ts';
import { leaseLimitMs } from './setting.ts';
import { type ComponentStatus, type ShootSnapshot, type StatusSnapshot, isUp, leaseAges } from './snapshot.ts';

const stateTones: Readonly<Partial<Record<ShootState, Tone>>> = {
  'losing nodes': 'bad',
  blind: 'bad',
  'not protected': 'bad',
  confirming: 'bad',
  flapping: 'bad',
  healthy: 'good',
  held: 'strong',
  landing: 'strong',
};

/** A shoot in two snapshots, and the number of its expired leases in each. */
interface Change {
  readonly before: ShootSnapshot;
  readonly after: ShootSnapshot;
  readonly expired: readonly [before: number, after: number];
}

const stateLines = ({ before, after: { name, state, why = '' } }: Change): readonly Line[] => {
  const isWellFromTheStart = before.state === 'not probed' && state === 'healthy';
  if (before.state === state || isWellFromTheStart) return [];
  // The first part is about the leases; what is held has lines of its own.
  const [what = ''] = why.split('; ');
  return [line([state, ...(what === '' ? [] : [what])].join(': '), name, stateTones[state] ?? 'plain')];
};

const apiServerLines = ({ before, after: { name, answers } }: Change): readonly Line[] =>
  before.answers && !answers ? [line('kube-apiserver is down', name, 'bad')] : [];

/** Lines about one object of the seed, with its resourceVersion. */
interface ObjectLines {
  readonly resourceVersion?: number;
  readonly lines: readonly Line[];
}

/** Reports crash loops of kube-apiserver only, because the rest of the control plane waits for it. */
const crashLoopLines = ({ before, after: { name, pods } }: Change): readonly Line[] =>
  pods.flatMap(({ uid, component, backOff, restarts }) => {
    const known = before.pods.find((pod) => pod.uid === uid)?.backOff;
    if (component !== 'kube-apiserver' || backOff === undefined || backOff.endsAt === known?.endsAt) return [];
    const wait = `crash loop: ${component} waits ${formatGoDuration(backOff.ms)} (${plural(restarts, 'restart')})`;
    return [line(wait, name)];
  });

const weededLines = ({ before, after: { name, weeded } }: Change): readonly ObjectLines[] => {
  const known = new Set(before.weeded.map(({ pod }) => pod));
  return weeded
    .filter(({ pod }) => !known.has(pod))
    .map(({ pod, resourceVersion }) => ({
      resourceVersion,
      lines: [line(`the weeder deleted ${pod}`, name, 'good')],
    }));
};

const componentLines = (before: ComponentStatus, after: ComponentStatus, about: string): readonly Line[] => {
  const name = after.name.padEnd(26);
  const lines: Line[] = [];
  if (before.replicas !== after.replicas) {
    lines.push(line(`${name}  ${String(before.replicas)} -> ${String(after.replicas)}`, about));
  }
  if (after.active && !before.active) {
    lines.push(line(`  annotated replicas=${after.stored ?? '?'}, meltdown-protection-active`, about));
  }
  if (before.active && !after.active) lines.push(line('  annotations removed', about));
  if (isUp(after) && !isUp(before)) lines.push(line(`${name}  ready again`, about, 'good'));
  return lines;
};

const allComponentLines = ({ before, after }: Change): readonly ObjectLines[] =>
  after.components.flatMap((component) => {
    const known = before.components.find(({ name }) => name === component.name);
    if (known === undefined) return [];
    return { resourceVersion: component.resourceVersion, lines: componentLines(known, component, after.name) };
  });

/** Returns the lines in the order in which the objects were last written. */
const inOrder = (objects: readonly ObjectLines[]): readonly Line[] =>
  objects.toSorted((a, b) => (a.resourceVersion ?? 0) - (b.resourceVersion ?? 0)).flatMap(({ lines }) => lines);

const leaseLines = ({ after: { name, nodes }, expired: [before, after] }: Change): readonly Line[] => {
  const share = `${String(after)} of ${plural(nodes.length, 'lease')} expired`;
  if (after > before) return [line(share, name, 'bad')];
  return after === 0 && before > 0 ? [line('all leases are renewed', name)] : [];
};

const unready = ({ nodes }: ShootSnapshot): readonly string[] =>
  nodes.filter(({ ready }) => ready !== 'True').map(({ name }) => name);

const nodeLines = ({ before, after }: Change): readonly Line[] => {
  const { name, nodes } = after;
  const [was, is] = [unready(before), unready(after)];
  const lost = is.filter((node) => !was.includes(node)).length;
  const found = was.filter((node) => !is.includes(node) && nodes.some(({ name: known }) => known === node)).length;
  const state = `${String(nodes.length - is.length)} of ${String(nodes.length)} Ready`;
  if (lost > 0) return [line(`KCM has given up ${plural(lost, 'node')} (Unknown): ${state}`, name, 'bad')];
  return found > 0 ? [line(`nodes: ${state}`, name)] : [];
};

const machineLines = ({ before, after }: Change): readonly Line[] =>
  before.machines
    .filter((machine) => !after.machines.includes(machine))
    .map((machine) => line(`MCM deleted healthy machine ${machine}`, after.name, 'bad'));

const linesOf = (change: Change): readonly Line[] => {
  const { before, after } = change;
  // Nodes can be compared only if the API server responded both times.
  const areComparable = before.answers && after.answers;
  return [
    ...(areComparable ? leaseLines(change) : []),
    ...stateLines(change),
    ...apiServerLines(change),
    ...crashLoopLines(change),
    ...inOrder([...weededLines(change), ...allComponentLines(change)]),
    ...(areComparable ? nodeLines(change) : []),
    ...machineLines(change),
  ];
};

/** Describes the changes between two snapshots, shoot by shoot. */
export const linesOfChanges = (before: StatusSnapshot, after: StatusSnapshot): readonly Line[] => {
  const expiredIn = (shoot: ShootSnapshot, { at }: StatusSnapshot): number =>
    leaseAges(shoot, at).filter((age) => age >= leaseLimitMs).length;
  return after.shoots.flatMap((shoot) => {
    const known = before.shoots.find(({ name }) => name === shoot.name);
    if (known === undefined) return [];
    return linesOf({ before: known, after: shoot, expired: [expiredIn(known, before), expiredIn(shoot, after)] });
  });
};
