import { type JudgeContext, judgeShoot } from '../judge-shoot.ts';
import type { ShootFacts, ShootStatus } from '../schema.ts';

/** Time of all facts below. */
export const at = '2026-01-01T12:00:00.000Z';

/** Returns the time that many seconds earlier. */
export const before = (seconds: number): string => new Date(Date.parse(at) - seconds * 1_000).toISOString();

export const context: JudgeContext = { now: Date.parse(at), probeIntervalMs: 10_000, dryRun: false, leads: true };

/** Facts of a healthy shoot. */
export const factsOf = (name: string, given: Partial<ShootFacts> = {}): ShootFacts => ({
  namespace: `shoot--dev--${name}`,
  project: 'dev',
  name,
  lookedAt: before(3),
  verdict: 'healthy',
  reason: '0/12 leases expired: no set of nodes reaches the threshold',
  candidates: 12,
  expired: 0,
  nodes: 12,
  leftOut: 0,
  leaseExpiryMs: 30_000,
  graceMs: 40_000,
  actsAfterMs: 20_000,
  lastRunEndedAt: before(3),
  nextRunAt: before(-7),
  flapping: false,
  paused: null,
  held: [],
  ...given,
});

const deployment = (name: string) => ({ kind: 'Deployment', name });
const kcm = deployment('kube-controller-manager');
const heldOf = (name: string, replicas: number) => ({ ...deployment(name), replicas, since: before(192) });

const allHeld: ShootFacts['held'] = [
  heldOf('kube-controller-manager', 2),
  heldOf('machine-controller-manager', 1),
  heldOf('cluster-autoscaler', 1),
];

/** What is different in each situation. */
const situations = {
  outage: {
    verdict: 'unhealthy',
    outageSince: before(195),
    expired: 12,
    reason: '12/12 node leases expired, threshold 0.6',
  },
  silent: {
    verdict: 'unhealthy',
    outageSince: before(195),
    silentForMs: 22_000,
    reason: 'none of 12 candidates has renewed for 22.0 s',
  },
  held: { held: allHeld },
  refused: {
    lookedAt: before(46),
    failing: { since: before(43), runs: 4, read: 'leases', reason: '401 Unauthorized', kind: 'credentials' },
    access: { secret: 'shoot--dev--one/dwd-prober', key: 'kubeconfig', server: 'api.one.example:443' },
  },
  unreachable: {
    lookedAt: before(46),
    failing: { since: before(43), runs: 4, read: 'leases', reason: 'connect ECONNREFUSED', kind: 'connection' },
    access: { secret: 'shoot--dev--one/dwd-prober', key: 'kubeconfig', server: 'api.one.example:443' },
  },
  busy: {
    lookedAt: before(46),
    failing: { since: before(43), runs: 4, read: 'leases', reason: '503 not now', kind: 'answer' },
  },
  failedOnce: { failing: { since: before(2), runs: 1, read: 'leases', reason: '503 not now', kind: 'answer' } },
  noRight: {
    failing: { since: before(43), runs: 4, read: 'nodes', reason: '403 nodes is forbidden', kind: 'rights' },
  },
  up: { up: [kcm] },
  stillRunning: { stillRunning: [kcm] },
  unread: { unread: [kcm] },
  overdue: { inOutage: true, expired: 12 },
  writeRefused: { failedWrites: [{ ...kcm, error: '403 from webhook limits.example' }], up: [kcm] },
  restoreRefused: { failedWrites: [{ ...kcm, error: '403 from webhook limits.example' }] },
  paused: { paused: { until: '2026-01-01T14:00:00Z', reason: 'LB maintenance', by: 'jo' } },
  ignored: { ignored: [{ ...kcm, isDown: false }] },
  ignoredMcm: {
    ignored: [
      { ...kcm, isDown: false },
      { ...deployment('machine-controller-manager'), isDown: true },
    ],
  },
  ignoredDown: { ignored: [{ ...kcm, isDown: true }] },
  missing: { missing: [kcm] },
  notServed: { notServed: [kcm] },
  oneNode: {
    candidates: 1,
    nodes: 3,
    leftOut: 2,
    leftOutReasons: [{ reason: 'its Machine has failed', nodes: 2 }],
    verdict: 'skipped',
  },
  shortGrace: { graceMs: 10_000, actsAfterMs: 12_500 },
  noNodes: { candidates: 0, nodes: 0, actsAfterMs: undefined },
  tightGrace: { graceMs: 14_000, actsAfterMs: 12_500 },
  landing: {
    verdict: 'landing',
    landing: { renewed: 7, awaited: 12, late: ['node-3'], latest: before(-41) },
  },
  restoring: {
    progress: {
      direction: 'up',
      done: 1,
      total: 3,
      awaited: { name: 'machine-controller-manager', why: 'follows after its initialDelay', until: before(-30) },
    },
  },
  flapping: { flapping: true },
  confirming: { verdict: 'confirming', expired: 8 },
  hibernated: { notProbed: { reason: 'hibernation is enabled', givesBack: true } },
  undecodable: { notProbed: { reason: 'its Cluster cannot be decoded: x', givesBack: false } },
  notYet: { verdict: undefined, lookedAt: undefined, nodes: undefined, candidates: 0, reason: '' },
} as const satisfies Readonly<Record<string, Partial<ShootFacts>>>;

export type Situation = keyof typeof situations;

export const situationNames = Object.keys(situations) as readonly Situation[];

/** Returns the facts of a shoot in which all these things are so. */
export const factsIn = (name: string, ...all: readonly Situation[]): ShootFacts =>
  factsOf(
    name,
    all.reduce<Partial<ShootFacts>>((facts, one) => ({ ...facts, ...situations[one] }), {}),
  );

/** Returns what a prober tells of a shoot with these facts, healthy for an hour unless they say since when. */
export const toldOf = (facts: ShootFacts, given: Partial<JudgeContext> = {}): ShootStatus => {
  const told = judgeShoot(facts, { ...context, ...given });
  return { ...facts, ...told, since: told.since ?? before(3_600) };
};
