import type { ShootStatus, ProberStatus } from '../../src/status/state/schema.ts';
import type { ShootState } from '../../src/status/state/states.ts';

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** Builds a shoot as a prober reports it in its status. */
export const shootNamed = (
  name: string,
  state: ShootState = 'healthy',
  change: Partial<ShootStatus> = {},
): ShootStatus => {
  const isProtected = state === 'held' || state === 'landing';
  const leases = isProtected ? '12/12 expired' : '0/12 expired';
  return {
    namespace: `shoot--dev--${name}`,
    project: 'dev',
    name,
    state,
    since: ago(192_000),
    why: leases,
    do: '',
    reason: `${leases}, threshold 0.6`,
    lookedAt: ago(2_000),
    next: isProtected ? { text: 'restored when its nodes renew' } : { text: 'next probe', at: ago(-8_000) },
    candidates: 12,
    expired: isProtected ? 12 : 0,
    leaseExpiryMs: 30_000,
    graceMs: 40_000,
    lastRunEndedAt: ago(2_000),
    flapping: state === 'flapping',
    paused: state === 'paused' ? { reason: 'LB maintenance', by: 'ann' } : null,
    held: isProtected
      ? ['machine-controller-manager', 'cluster-autoscaler', 'kube-controller-manager'].map((held) => ({
          kind: 'Deployment',
          name: held,
          replicas: 1,
        }))
      : [],
    ...(isProtected ? { marginMs: 6_200 } : {}),
    ...change,
  };
};

/** Adds the fields that the prober reports with `?shoot=`. */
export const detailed = (shoot: ShootStatus): ShootStatus => ({
  ...shoot,
  threshold: 0.6,
  leases: Array.from({ length: shoot.candidates }, (_, index) => {
    const ageMs = shoot.expired > index ? 31_000 + 900 * index : 700 * index;
    return {
      name: `node-${String(index + 1)}`,
      renewedAt: ago(ageMs),
      ageMs,
      expired: ageMs > shoot.leaseExpiryMs,
      counted: index !== 11,
      ...(index === 11 ? { leftOut: 'its machine is being deleted' } : {}),
    };
  }),
  scaling:
    shoot.held.length === 0
      ? null
      : {
          direction: 'down',
          reason: shoot.reason,
          startedAt: shoot.since ?? ago(0),
          steps: shoot.held.map(({ kind, name }, level) => ({ kind, name, level, state: 'done' })),
        },
  decisions: Array.from({ length: 12 }, (_, index) => ({
    at: ago((12 - index) * 10_000),
    lastAt: ago((12 - index) * 10_000 - 5_000),
    runs: 2,
    verdict: index > 8 ? 'unhealthy' : 'healthy',
    reason: shoot.reason,
    candidates: 12,
    expired: shoot.expired,
    threshold: 0.6,
  })),
});

export const statusWith = (shoots: readonly ShootStatus[]): ProberStatus => ({
  schemaVersion: 1,
  component: 'prober',
  identity: 'dwd-prober-7c9d8-x2x4q_5f0c1e',
  version: '0.1.0',
  at: new Date().toISOString(),
  leads: true,
  leadsSince: ago(3_720_000),
  standby: 'hot',
  dryRun: false,
  configHash: '9f86d081884c',
  probeIntervalMs: 10_000,
  lastRoundEndedAt: ago(3_000),
  missingRights: [],
  paused: null,
  shoots,
});
