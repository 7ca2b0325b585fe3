import type { SeenShoot } from './seed-status.ts';

/** The namespace that is asked for; undefined for PROJECT/NAME. */
export const namespaceOf = (wanted: string): string | undefined => (wanted.includes('/') ? undefined : wanted);

/** The shoot with that namespace, or all that share it; or the one with that PROJECT/NAME, which is the whole name of one that shares its namespace. */
export const findWanted = <T extends Pick<SeenShoot, 'namespace' | 'project' | 'name'>>(
  shoots: readonly T[],
  wanted: string,
): readonly T[] => {
  const [project, name] = wanted.split('/');
  if (name === undefined) {
    return shoots.filter(({ namespace }) => namespace === wanted || namespace.startsWith(`${wanted}/`));
  }
  return shoots.filter((shoot) => shoot.name === name && shoot.project === project?.replace(/^garden-/, ''));
};
