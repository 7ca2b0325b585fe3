import { choice } from './flag-types.ts';

/** Cluster source of a simulated seed, by the values of the prober's `clusterSource.kind`. */
export const clusterSourceType = choice<'gardener' | 'secret'>('source', ['gardener', 'secret']);

/** Cluster source of a rehearsal. */
export const rehearsedSourceType = choice<'gardener' | 'secret' | 'cluster-api'>('source', [
  'gardener',
  'secret',
  'cluster-api',
]);
