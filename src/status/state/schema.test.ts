import { describe, expect, it } from 'vitest';
import { type ProberStatus, statusSchema } from './schema.ts';

const at = '2026-01-01T00:00:00.000Z';

const status: ProberStatus = {
  schemaVersion: 1,
  component: 'prober',
  identity: 'dwd-prober-0_1a2b',
  version: '0.1.0',
  at,
  leads: true,
  leadsSince: at,
  standby: 'hot',
  dryRun: false,
  configHash: '0123456789ab',
  probeIntervalMs: 10_000,
  missingRights: [],
  paused: null,
  shoots: [
    {
      namespace: 'shoot--dev--one',
      project: 'dev',
      name: 'one',
      state: 'held',
      since: at,
      why: '12/12 expired; held: kube-controller-manager',
      reason: '12/12 node leases expired, threshold 0.6',
      next: { text: 'restored when its nodes renew' },
      do: '',
      candidates: 12,
      expired: 12,
      leaseExpiryMs: 30_000,
      graceMs: 40_000,
      flapping: false,
      paused: null,
      held: [{ kind: 'Deployment', name: 'kube-controller-manager', replicas: 2, since: at }],
    },
  ],
};

describe('the schema of GET /status', () => {
  it('accepts a status, and drops fields that a later version adds', () => {
    expect(statusSchema.parse({ ...status, added: 1 })).toEqual(status);
  });

  it.each<[what: string, change: object]>([
    ['another version', { schemaVersion: 2 }],
    ['an invalid time', { at: 'yesterday' }],
    ['an unknown state', { shoots: [{ ...status.shoots[0], state: 'great' }] }],
    ['a negative count', { shoots: [{ ...status.shoots[0], expired: -1 }] }],
  ])('refuses %s', (_, change) => {
    expect(statusSchema.safeParse({ ...status, ...change }).success).toBe(false);
  });
});
