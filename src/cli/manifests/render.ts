import { type ComponentName, componentNames } from '../../config/index.ts';
import type { Installation, KubernetesObject } from './installation.ts';
import { bindScript, operatorRoles } from './operator.ts';
import { policies } from './policy.ts';
import { kubeconfigScript, shootAccess } from './shoot-access.ts';
import { workloadOf } from './workload.ts';

/** The objects of one component, in the order in which they are to be applied. */
type Render = (installation: Installation) => readonly KubernetesObject[];

/** What does not run as a process. */
const others = {
  'shoot-access': shootAccess,
  operator: operatorRoles,
  policy: (installation) => policies(installation),
} as const satisfies Readonly<Record<string, Render>>;

export type Component = ComponentName | keyof typeof others;

/** In the order in which they are to be applied. */
export const components: readonly Component[] = [
  ...componentNames,
  ...(Object.keys(others) as readonly (keyof typeof others)[]),
];

const rendererOf = (component: Component): Render => {
  const running = componentNames.find((name) => name === component);
  return running === undefined ? others[component as keyof typeof others] : workloadOf(running);
};

/** The objects of these components, in the order in which they are to be applied, whatever the order of `chosen`. */
export const renderManifests = (
  installation: Installation,
  chosen: readonly Component[],
): readonly KubernetesObject[] =>
  components
    .filter((component) => chosen.includes(component))
    .flatMap((component) => rendererOf(component)(installation));

const scripts: Readonly<Partial<Record<Component, (installation: Installation) => string>>> = {
  'shoot-access': kubeconfigScript,
  operator: bindScript,
};

/** What is left to do when their objects are applied, as a script for a shell; empty for most. */
export const scriptsFor = (installation: Installation, chosen: readonly Component[]): string =>
  chosen.map((component) => scripts[component]?.(installation) ?? '').join('');
