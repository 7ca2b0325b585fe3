import { type Grant, eventGrant, watched } from '../process/rights/index.ts';

const pods = { group: '', resource: 'pods' };

/** Rights of the weeder in a seed, for any configuration. */
export const weederGrants: readonly Grant[] = [
  {
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    verbs: watched,
    purpose: 'to find services that become ready',
  },
  { ...pods, verbs: watched, purpose: 'to find crash-looping pods' },
  { ...pods, verbs: ['delete'], purpose: 'to restart crash-looping pods' },
  eventGrant,
];
