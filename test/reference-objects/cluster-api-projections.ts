import { decodeCapiCluster } from '../../src/cluster-api/cluster.ts';
import { decodeHosted, decodeMachine } from '../../src/prober/source/cluster-api.ts';
import type { Projection } from './projection.ts';

/** The fixture of one API version of a kind. */
const versions = (kind: string): readonly string[] => [kind, `${kind}V1Beta1`];

const initialized = {
  'status.conditions[].type': 'ControlPlaneInitialized',
  'status.conditions[].status': 'True',
};

/** What the prober makes of it has no field for what is read. */
const clusterOf: Projection['project'] = (json) => ({
  ...decodeCapiCluster(json, 'object'),
  hosted: decodeHosted(json, 'object').name,
});

/** How the kinds of Cluster API are read, in both of the versions that it serves. */
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
