import { type Grant, eventGrant, watched } from '../process/rights/index.ts';

const pods = { group: '', resource: 'pods' };

/** Rights of the weeder in a seed, for any configuration. */
export const weederGrants: readonly Grant[] = [
  {
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    verbs: watched,
    purpose: 'to know which services are ready',
  },
  { ...pods, verbs: watched, purpose: 'to see pods that crash-loop' },
  { ...pods, verbs: ['delete'], purpose: 'to let pods that crash-loop start anew' },
  eventGrant,
];
