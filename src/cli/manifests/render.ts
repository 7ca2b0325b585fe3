import type { KubeObject } from '../../install/index.ts';
import { type ComponentName, componentNames } from '../../config/index.ts';
import type { Installation } from './installation.ts';
import { bindScript, operatorRoles } from './operator.ts';
import { policies } from './policy.ts';
import { kubeconfigScript, shootAccess } from './shoot-access.ts';
import { workloadOf } from './workload.ts';

/** Returns the objects of one part in the order in which to apply them. */
type Render = (installation: Installation) => readonly KubeObject[];

/** Parts that do not run as a process. */
const others = {
  'shoot-access': shootAccess,
  operator: operatorRoles,
  policy: (installation) => policies(installation),
} as const satisfies Readonly<Record<string, Render>>;

/** A value of `--component`: a component, or other objects that an installation may have. */
export type ManifestPart = ComponentName | keyof typeof others;

/** All parts in the order in which to apply them. */
export const manifestParts: readonly ManifestPart[] = [
  ...componentNames,
  ...(Object.keys(others) as readonly (keyof typeof others)[]),
];

const rendererOf = (part: ManifestPart): Render => {
  const running = componentNames.find((name) => name === part);
  return running === undefined ? others[part as keyof typeof others] : workloadOf(running);
};

/** Returns the objects of these parts in the order in which to apply them, which does not depend on the order of `chosen`. */
export const renderManifests = (installation: Installation, chosen: readonly ManifestPart[]): readonly KubeObject[] =>
  manifestParts.filter((part) => chosen.includes(part)).flatMap((part) => rendererOf(part)(installation));

const scripts: Readonly<Partial<Record<ManifestPart, (installation: Installation) => string>>> = {
  'shoot-access': kubeconfigScript,
  operator: bindScript,
};

/** Returns a shell script to run after the objects of these parts are applied; empty for most parts. */
export const scriptsFor = (installation: Installation, chosen: readonly ManifestPart[]): string =>
  chosen.map((part) => scripts[part]?.(installation) ?? '').join('');
