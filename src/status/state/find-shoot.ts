import { nearest } from '../../config/rules/index.ts';
import type { NamespacedName } from '../../kubernetes/api/resource-ref.ts';
import type { ShootStatus } from './schema.ts';

/** A shoot with the names that operators use. */
export type NamedShoot = Pick<ShootStatus, 'namespace' | 'project' | 'name'>;

/** Prefix of a project's namespace in the garden, unless the project specifies its namespace (`Project.spec.namespace` of core.gardener.cloud/v1beta1). */
const projectPrefix = /^garden-/;

/** Names a shoot by the namespace and the name of its Shoot in the garden; by its control plane if they are not known. */
export const namedShoot = (namespace: string, shoot: NamespacedName | undefined): NamedShoot =>
  shoot === undefined
    ? { namespace, name: namespace }
    : { namespace, project: shoot.namespace.replace(projectPrefix, ''), name: shoot.name };

/** Formats a shoot as `project/name`. */
export const titleOf = ({ project, name }: NamedShoot): string => (project === undefined ? name : `${project}/${name}`);

/** True if the text is a namespace: the technical ID of a shoot. */
export const isNamespace = (wanted: string): boolean => !wanted.includes('/');

/**
 * Finds a shoot by the namespace of its control plane, which is its technical ID, by `project/name`, or by `garden-project/name`, the namespace and the name
 * of its Shoot. Every command that takes a shoot finds it here.
 */
export const findShoot = <T extends NamedShoot>(shoots: readonly T[], wanted: string): T | undefined => {
  if (isNamespace(wanted)) return shoots.find(({ namespace }) => namespace === wanted);
  const short = wanted.replace(projectPrefix, '');
  return shoots.find((shoot) => shoot.project !== undefined && [short, wanted].includes(titleOf(shoot)));
};

/** Says that there is no such shoot, with the name that was probably meant. */
export const noSuchShoot = (wanted: string, shoots: readonly NamedShoot[]): string => {
  const names = shoots.flatMap((shoot) => (isNamespace(wanted) ? [shoot.namespace, shoot.name] : [titleOf(shoot)]));
  const meant = nearest(wanted.replace(projectPrefix, ''), names);
  const found = shoots.find((shoot) => [shoot.namespace, shoot.name, titleOf(shoot)].includes(meant ?? ''));
  const hint = found === undefined ? '' : `; did you mean ${titleOf(found)} (${found.namespace})?`;
  return `there is no shoot ${wanted} in this seed, which has ${String(shoots.length)}${hint}`;
};

/** There is no such shoot. The message names the one that was probably meant. */
export class NoSuchShoot extends Error {
  override readonly name = 'NoSuchShoot';

  constructor(wanted: string, shoots: readonly NamedShoot[]) {
    super(noSuchShoot(wanted, shoots));
  }
}
