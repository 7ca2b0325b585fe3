import type { NeededRight } from './check-rights.ts';

const pods = { group: '', resource: 'pods' };
const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };

/** Rights in the seed that weeding takes, in all namespaces, whatever is configured. */
export const neededByWeeder: readonly NeededRight[] = [
  { right: { verb: 'list', ...slices }, purpose: 'to know which services are ready' },
  { right: { verb: 'watch', ...slices }, purpose: 'to know which services are ready' },
  { right: { verb: 'list', ...pods }, purpose: 'to see pods that crash-loop' },
  { right: { verb: 'watch', ...pods }, purpose: 'to see pods that crash-loop' },
  { right: { verb: 'delete', ...pods }, purpose: 'to let pods that crash-loop start anew' },
];
