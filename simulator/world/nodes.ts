import { type SimObject, type SimStore, asList, asMap, simKinds } from '../apiserver/index.ts';
import type { NodeCondition } from './objects.ts';
import { withStatus } from './workloads.ts';

export const conditionsOf = (node: SimObject): readonly NodeCondition[] =>
  asList(asMap(node.status).conditions) as readonly NodeCondition[];

export const readyOf = (node: SimObject): NodeCondition | undefined =>
  conditionsOf(node).find(({ type }) => type === 'Ready');

export const setConditions = (
  store: SimStore,
  name: string,
  change: (conditions: readonly NodeCondition[]) => readonly NodeCondition[],
): void => {
  store.patch(simKinds.Node, { name }, (node) => withStatus(node, { conditions: change(conditionsOf(node)) }));
};

/** `spec.renewTime` of a Lease, in milliseconds since the epoch; undefined if it has none. */
export const renewTimeOf = (lease: SimObject | undefined): number | undefined => {
  const text = asMap(lease?.spec).renewTime;
  return typeof text === 'string' ? Date.parse(text) : undefined;
};
