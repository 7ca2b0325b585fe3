import { type Line, line } from './line.ts';
import { type DeploymentSnapshot, type ShootSnapshot, isUp } from './snapshot.ts';

const deploymentLines = (before: DeploymentSnapshot, after: DeploymentSnapshot, about: string): readonly Line[] => {
  const lines: Line[] = [];
  if (before.replicas !== after.replicas) {
    lines.push(line(`${after.name.padEnd(26)}  ${String(before.replicas)} -> ${String(after.replicas)}`, about));
  }
  if (after.active && !before.active) {
    lines.push(line(`  annotated replicas=${after.stored ?? '?'}, meltdown-protection-active`, about));
  }
  if (before.active && !after.active) lines.push(line('  annotations removed', about));
  if (isUp(after) && !isUp(before)) lines.push(line(`${after.name.padEnd(26)}  ready again`, about, 'good'));
  return lines;
};

const unready = ({ nodes }: ShootSnapshot): readonly string[] =>
  nodes.filter(({ ready }) => ready !== 'True').map(({ name }) => name);

const nodeLines = (before: ShootSnapshot, after: ShootSnapshot): readonly Line[] => {
  const { name, nodes } = after;
  if (!before.answers || !after.answers) return [];
  const [was, is] = [unready(before), unready(after)];
  const lost = is.filter((node) => !was.includes(node)).length;
  const found = was.filter((node) => !is.includes(node) && nodes.some(({ name: known }) => known === node)).length;
  const state = `${String(nodes.length - is.length)} of ${String(nodes.length)} Ready`;
  const lines: Line[] = [];
  if (lost > 0) lines.push(line(`KCM has given up ${plural(lost, 'node')} (Unknown): ${state}`, name, 'bad'));
  if (found > 0 && lost === 0) lines.push(line(`nodes: ${state}`, name));
  return lines;
};

export const plural = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

const machineLines = (before: ShootSnapshot, after: ShootSnapshot): readonly Line[] =>
  before.machines
    .filter((machine) => !after.machines.includes(machine))
    .map((machine) => line(`MCM deleted healthy machine ${machine}`, after.name, 'bad'));

/** What differs between two looks at one shoot, of its Deployments those that `order` names, in that order. */
export const tellChanges = (before: ShootSnapshot, after: ShootSnapshot, order: readonly string[]): readonly Line[] => {
  const sorted = after.deployments
    .filter(({ name }) => order.includes(name))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return [
    ...sorted.flatMap((deployment) => {
      const known = before.deployments.find(({ name }) => name === deployment.name);
      return known === undefined ? [] : deploymentLines(known, deployment, after.name);
    }),
    ...nodeLines(before, after),
    ...machineLines(before, after),
  ];
};
