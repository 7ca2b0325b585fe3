import type { SeenShoot } from './seed-status.ts';

/** The namespace that is asked for; undefined for PROJECT/NAME. */
export const namespaceOf = (wanted: string): string | undefined => (wanted.includes('/') ? undefined : wanted);

/** The shoot with that namespace, or that PROJECT/NAME, which is the whole name of one that shares its namespace. */
export const findWanted = (shoots: readonly SeenShoot[], wanted: string): SeenShoot | undefined => {
  const [project, name] = wanted.split('/');
  if (name === undefined) return shoots.find(({ namespace }) => namespace === wanted);
  return shoots.find((shoot) => shoot.name === name && shoot.project === project?.replace(/^garden-/, ''));
};
