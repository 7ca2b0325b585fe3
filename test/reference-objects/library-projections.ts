import { mergeConditions, storedConditions } from '../../src/gardener/condition.ts';
import { careExtensionKinds } from '../../src/gardener/extensions.ts';
import { getDaemonSetHealth, getDeploymentHealth, getStatefulSetHealth } from '../../src/gardener/workloads.ts';
import { decodeExtension, decodeHibernation } from '../../src/healthcheck/extension.ts';
import { type Projection, object, ofOtherConditions } from './projection.ts';

const at = { namespace: 'ns', name: 'name' };

/** Projections with which the health-check library reads the objects that it watches and requests. */
export const libraryProjections: readonly Projection[] = [
  ...[...careExtensionKinds.map(({ kind }) => kind), 'Bastion', 'DNSRecord'].map((kind) => ({
    name: `${kind} of the library`,
    kind,
    project: (json: unknown) => {
      const extension = decodeExtension(json, 'object');
      const { object: whole, ...view } = extension;
      return { ...view, merged: mergeConditions(storedConditions(whole, 'object'), [], ['Old']) };
    },
  })),
  {
    name: 'Cluster of the library',
    kind: 'Cluster',
    project: object(decodeHibernation),
  },
  {
    name: 'Deployment of the library',
    kind: 'Deployment',
    project: getDeploymentHealth(at).decode,
    set: { 'status.conditions[].type': 'Available', 'status.conditions[].status': 'False' },
    exceptions: ofOtherConditions('codes'),
  },
  {
    name: 'StatefulSet of the library',
    kind: 'StatefulSet',
    project: getStatefulSetHealth(at).decode,
    // A StatefulSet of upstream's is healthy.
    exceptions: { ...ofOtherConditions('codes', 'lastUpdateTime'), empty: ['problem'] },
  },
  {
    name: 'DaemonSet of the library',
    kind: 'DaemonSet',
    project: getDaemonSetHealth(at).decode,
    set: { 'spec.updateStrategy.type': 'RollingUpdate' },
    exceptions: ofOtherConditions('codes', 'lastUpdateTime'),
  },
];
