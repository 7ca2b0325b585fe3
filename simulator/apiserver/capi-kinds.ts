import type { SimKind } from './kind.ts';
import { customKind } from './kinds.ts';

const identity = { group: 'cluster.x-k8s.io', version: 'v1beta2' } as const;

/** Kinds of a Cluster API management cluster (sigs.k8s.io/cluster-api/api/core/v1beta2). */
export const capiKinds = {
  Cluster: customKind({ ...identity, kind: 'Cluster', resource: 'clusters' }, { shortNames: ['cl'], status: true }),
  Machine: customKind({ ...identity, kind: 'Machine', resource: 'machines' }, { shortNames: ['ma'], status: true }),
} as const satisfies Record<string, SimKind>;
