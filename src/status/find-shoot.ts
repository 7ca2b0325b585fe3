import type { SeenShoot } from './seed-status.ts';

/** Returns the requested namespace, or undefined for PROJECT/NAME. */
export const namespaceOf = (wanted: string): string | undefined => (wanted.includes('/') ? undefined : wanted);

/** Finds the shoot of a namespace, or the shoot PROJECT/NAME. */
export const findWanted = <T extends Pick<SeenShoot, 'namespace' | 'project' | 'name'>>(
  shoots: readonly T[],
  wanted: string,
): readonly T[] => {
  const [project, name] = wanted.split('/');
  if (name === undefined) return shoots.filter(({ namespace }) => namespace === wanted);
  return shoots.filter((shoot) => shoot.name === name && shoot.project === project?.replace(/^garden-/, ''));
};
