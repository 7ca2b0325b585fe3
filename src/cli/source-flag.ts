import { choice } from './flag-types.ts';

/** Cluster source of a simulated seed, by the values of the prober's `clusterSource.kind`. */
export const clusterSourceType = choice<'gardener' | 'secret'>('source', ['gardener', 'secret']);
