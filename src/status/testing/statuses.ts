import type { ProbedShoot, ProberStatus } from '../../prober/status/index.ts';
import { type SeedFindings, judgeSeed } from '../judge.ts';
import type { SeedStatus } from '../seed-status.ts';

/** Time of all statuses below. */
const readAt = '2026-01-01T12:00:00.000Z';

/** Returns the time that many seconds earlier. */
export const before = (seconds: number): string => new Date(Date.parse(readAt) - seconds * 1_000).toISOString();

export const shootOf = (name: string, given: Partial<ProbedShoot> = {}): ProbedShoot => ({
  namespace: `shoot--dev--${name}`,
  project: 'dev',
  name,
  state: 'healthy',
  since: before(3_600),
  reason: '0/12 leases expired: no set of nodes reaches the threshold',
  next: { text: 'next probe', at: before(-7) },
  candidates: 12,
  expired: 0,
  leaseExpiryMs: 30_000,
  graceMs: 40_000,
  lastRunEndedAt: before(3),
  flapping: false,
  paused: null,
  held: [],
  ...given,
});

const held = (name: string, replicas: number) => ({ kind: 'Deployment', name, replicas, since: before(192) });

export const protectedShoot = shootOf('one', {
  state: 'landing',
  since: before(192),
  reason: '12/12 node leases expired, threshold 0.6',
  next: { text: 'landing: 7 of 12 renewed, at the latest', at: before(-41) },
  expired: 12,
  held: [held('kube-controller-manager', 2), held('machine-controller-manager', 1), held('cluster-autoscaler', 1)],
});

export const pausedShoot = shootOf('two', {
  state: 'paused',
  candidates: 5,
  since: before(3_720),
  next: { text: 'until 2026-01-01T14:00:00Z, "LB maintenance"' },
  paused: { until: '2026-01-01T14:00:00Z', reason: 'LB maintenance', by: 'jo' },
});

export const ignoringShoot = shootOf('twin', {
  ignored: ['kube-controller-manager', 'cluster-autoscaler'].map((name) => ({ kind: 'Deployment', name })),
});

export const unprobedShoot = {
  namespace: 'shoot--dev--three',
  project: 'dev',
  name: 'three',
  reason: 'its Cluster cannot be decoded: x',
  held: [held('kube-controller-manager', 2), held('machine-controller-manager', 1)],
};

export const proberOf = (shoots: readonly ProbedShoot[], given: Partial<ProberStatus> = {}): ProberStatus => ({
  schemaVersion: 1,
  component: 'prober',
  identity: 'dwd-prober-a_1f',
  version: '0.1.0',
  at: readAt,
  leads: true,
  leadsSince: before(7_200),
  standby: 'hot',
  dryRun: false,
  configHash: '9f86d081884c',
  probeIntervalMs: 10_000,
  lastRoundEndedAt: before(3),
  missingRights: [],
  paused: null,
  shoots,
  ...given,
});

export const findingsOf = (given: Partial<SeedFindings> = {}): SeedFindings => ({
  at: readAt,
  objects: {
    lease: { holder: 'dwd-prober-a_1f', since: before(7_200), isFresh: true },
    replicas: [
      { pod: 'dwd-prober-a', version: '0.1.0', isReady: true, healthPort: 9_644 },
      { pod: 'dwd-prober-b', version: '0.1.0', isReady: true, healthPort: 9_644 },
    ],
    problems: [],
  },
  answer: undefined,
  held: undefined,
  problems: [],
  ...given,
});

export const statusOf = (...shoots: readonly ProbedShoot[]): SeedStatus =>
  judgeSeed(findingsOf({ answer: proberOf(shoots) }));
