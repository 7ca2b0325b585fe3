import { decodeCapiCluster } from '../../src/cluster-api/cluster.ts';
import { decodeHosted, decodeMachine } from '../../src/prober/source/cluster-api.ts';
import type { Projection } from './projection.ts';

/** Names of a kind's fixtures, one for each API version. */
const versions = (kind: string): readonly string[] => [kind, `${kind}V1Beta1`];

const initialized = {
  'status.conditions[].type': 'ControlPlaneInitialized',
  'status.conditions[].status': 'True',
};

/** Projects a Cluster. Adds the name of the hosted cluster, because the prober's result has no field for it. */
const clusterOf: Projection['project'] = (json) => ({
  ...decodeCapiCluster(json, 'object'),
  hosted: decodeHosted(json, 'object').name,
});

/** Projections of the kinds of Cluster API, in both of its API versions. */
export const clusterApiProjections: readonly Projection[] = [
  ...versions('ClusterAPICluster').flatMap((kind): readonly Projection[] => [
    { name: kind, kind, project: clusterOf, set: initialized },
    {
      name: `${kind} with the annotation alone`,
      kind,
      project: clusterOf,
      set: { ...initialized, 'spec.paused': false },
    },
  ]),
  ...versions('ClusterAPIMachine').map(
    (kind): Projection => ({ name: kind, kind, project: (json) => decodeMachine(json, 'object') }),
  ),
];
