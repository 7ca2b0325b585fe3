import type { Bug, Shape, Wrapped } from './bug.ts';
import { electionBugs } from './election-bugs.ts';
import { proberBugs } from './prober-bugs.ts';
import { sourceBugs } from './source-bugs.ts';
import { standbyBugs } from './standby-bugs.ts';
import { weederBugs } from './weeder-bugs.ts';

export const bugs: readonly Bug[] = [...proberBugs, ...standbyBugs, ...sourceBugs, ...electionBugs, ...weederBugs];

let planted: string | undefined;

/** Activates the bug of that name from now on, and no other. */
export const plant = (name: string | undefined): void => {
  planted = name;
};

/** Returns the module with one function wrapped, the last part of `of`: it has the bug that is planted. */
export const withBugs = (module: Shape, of: string): Shape => {
  const name = of.split('/').at(-1) ?? of;
  const original = module[name] as Wrapped;
  const changed = new Map(bugs.filter((bug) => bug.of === of).map((bug) => [bug.name, bug.change(original)] as const));
  const wrapped: Wrapped = (...args) => (changed.get(planted ?? '') ?? original)(...args);
  return { ...module, [name]: wrapped };
};
