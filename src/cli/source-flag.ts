import { choice } from './flag-types.ts';

/** How clusters are found in a simulated seed, as `clusterSource.kind` of the prober names it. */
export const clusterSourceType = choice<'gardener' | 'secret'>('source', ['gardener', 'secret']);

/** The same in a rehearsal. */
export const rehearsedSourceType = choice<'gardener' | 'secret' | 'cluster-api'>('source', [
  'gardener',
  'secret',
  'cluster-api',
]);
