import type { SimObject } from '../../simulator/apiserver/object.ts';
import { clusterPhase, isAliveMachine, isCandidateNode, podFacts, serviceOf } from '../../simulator/outages/facts.ts';
import { hasReadyEndpoint } from '../../simulator/world/endpoint-slices.ts';
import type { Projection } from './projection.ts';

const nodeOf = (list: unknown): SimObject => {
  const [node] = (list as { readonly items: readonly SimObject[] }).items;
  if (node === undefined) throw new Error('no node');
  return node;
};

/** Projections of the model that judges random outages, which implements the same specification a second time. */
export const modelProjections: readonly Projection[] = [
  { name: 'Cluster of the model', kind: 'Cluster', project: (json) => clusterPhase(json as SimObject) },
  {
    name: 'Cluster of the model, awake',
    kind: 'Cluster',
    project: (json) => clusterPhase(json as SimObject),
    set: { 'spec.shoot.spec.hibernation.enabled': false },
  },
  {
    name: 'Node of the model',
    kind: 'NodeList',
    project: (json) => isCandidateNode(nodeOf(json)),
    set: { 'items[].status.conditions[].type': 'DiskPressure' },
  },
  {
    name: 'Machine of the model',
    kind: 'Machine',
    project: (json) => isAliveMachine(json as SimObject),
    set: { 'status.currentStatus.phase': 'Failed' },
  },
  {
    name: 'Pod of the model',
    kind: 'Pod',
    project: (json) => podFacts(json as SimObject),
    set: Object.fromEntries(
      ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'].map((list) => [
        `status.${list}[].state.waiting.reason`,
        'CrashLoopBackOff',
      ]),
    ),
  },
  {
    name: 'EndpointSlice of the model',
    kind: 'EndpointSlice',
    project: (json) => ({ isReady: hasReadyEndpoint([json as SimObject]), service: serviceOf(json as SimObject) }),
    set: { 'endpoints[].conditions.terminating': false },
  },
];
