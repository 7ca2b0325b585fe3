import type { ShootModel, Model } from '../model.ts';
import { stateless } from './invariant.ts';

const hasOneCandidate = ({ nodes, machines }: ShootModel): boolean =>
  [...nodes].filter(([node, { isCandidate }]) => isCandidate && machines.has(node)).length === 1;

/** True if only held resources are restored: with a single candidate, or if the cluster is no longer probed. */
const restoresOnlyHeld = (shoot: ShootModel): boolean => shoot.phase === 'restore' || hasOneCandidate(shoot);

const problemsOf = (name: string, shoot: ShootModel): readonly string[] =>
  [...shoot.deployments].flatMap(([deployment, state]) => {
    const what = `${name}: ${deployment}`;
    switch (shoot.phase) {
      case 'run':
      case 'restore':
        if (state.isIgnored) return [];
        // An operator took over the held Deployment, and gave it back at 0.
        if (restoresOnlyHeld(shoot) && state.replicas === 0 && !state.isHeld && state.stored !== undefined) return [];
        if (state.replicas !== state.desired) {
          return [`${what} has ${String(state.replicas)} replicas, not the ${String(state.desired)} of before`];
        }
        return state.isHeld || state.stored !== undefined ? [`${what} still carries marks`] : [];
      case 'release':
        return state.isHeld ? [`${what} still carries the mark`] : [];
      case 'leave':
      case 'missing':
      case 'gone':
        return [];
    }
  });

/** Returns the differences from the former state of the world. In a dry run there are none. */
export const unrestored = (model: Model): readonly string[] =>
  [...model.shoots].flatMap(([name, shoot]) => problemsOf(name, shoot));

/** After the recovery, everything is as before, or given back to its owner. */
export const restoration = stateless('restored in the end', (event, { model }) =>
  event.kind === 'settled' ? unrestored(model)[0] : undefined,
);
