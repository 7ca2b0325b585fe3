import type { PageSample } from '../../../src/page/feed/index.ts';
import type { ShootFacts, ShootStatus } from '../../../src/status/state/schema.ts';
import {
  type Situation,
  at,
  before,
  factsIn,
  situationNames,
  toldOf,
} from '../../../src/status/state/testing/facts.ts';

// Fictitious seeds with what a prober tells of their shoots, and the longest names and sentences that occur.

const long = 'production-eu-central-1-blue';
const project = 'the-longest-project';

const shoot = (name: string, given: Partial<ShootFacts> = {}, ...situations: readonly Situation[]): ShootStatus =>
  toldOf({ ...factsIn(name, ...situations), ...given });

/** Gives the leases of an open shoot ages that fit what is told of it: as long as it is silent, or late, while their silence is excused. */
export const withLeases = (open: ShootStatus): ShootStatus => {
  const { silentForMs, excusedUntil, leaseExpiryMs, lookedAt = at, leases } = open;
  const leastMs = silentForMs ?? (excusedUntil && leaseExpiryMs);
  if (leases === undefined || typeof leastMs !== 'number') return open;
  const aged = leases.map(({ name }, index) => {
    const ageMs = leastMs + 700 * index;
    const renewedAt = new Date(Date.parse(lookedAt) - ageMs).toISOString();
    return { name, renewedAt, ageMs, expired: false, counted: true };
  });
  return { ...open, leases: aged };
};

/** Healthy shoots of several projects. */
const healthy = (count: number): readonly ShootStatus[] =>
  Array.from({ length: count }, (_, index) => {
    const of = ['core', 'fin', 'garden', 'hc-us20', project][index % 5] ?? '';
    return shoot(`w${String(index)}`, { project: of, namespace: `shoot--${of}--w${String(index)}` });
  });

const longNames: Partial<ShootFacts> = {
  project,
  name: long,
  namespace: `shoot--${project}--${long}`,
};

const refused = `403 admission webhook "limits.policies.example.cloud.internal" denied the request: https://docs.example.cloud/policies/limits/deployments/${'scale-to-zero-'.repeat(6)}`;

const losing = shoot(
  long,
  {
    ...longNames,
    failedWrites: [{ kind: 'Deployment', name: 'kube-controller-manager', error: refused }],
  },
  'silent',
  'writeRefused',
);

const blind = shoot(
  'one',
  { access: { secret: `shoot--${project}--${long}/shoot-access-dependency-watchdog-probe`, key: 'kubeconfig' } },
  'silent',
  'held',
  'refused',
);

export const seeds = {
  calm: healthy(300),
  wrong: [losing, blind, shoot('twin', {}, 'ignored'), ...healthy(57)],
  mass: [
    losing,
    blind,
    shoot('maintained', {}, 'paused'),
    ...Array.from({ length: 238 }, (_, index) => {
      const name = `m${String(index)}`;
      const of = ['fin', 'hc-us20', 'core'][index % 3] ?? '';
      return shoot(name, { project: of, namespace: `shoot--${of}--${name}` }, 'silent', 'held');
    }),
    ...healthy(59),
  ],
  held: [
    shoot('held', {}, 'outage', 'held'),
    shoot('late', {}, 'landing', 'held'),
    shoot('back', {}, 'restoring', 'held'),
    blind,
  ],
  excused: [shoot('excused', { excusedUntil: before(20) }), ...healthy(9)],
  every: situationNames.map((name) =>
    shoot(`${name.toLowerCase()}-${long}`, { ...longNames, name: `${name}-${long}` }, name),
  ),
} as const satisfies Readonly<Record<string, readonly ShootStatus[]>>;

export type SeedName = keyof typeof seeds;

/** An hour with two outages, the second of which continues and nearly failed. */
export const samples: readonly PageSample[] = Array.from({ length: 600 }, (_, index) => {
  const time = Date.parse(at) - (600 - index) * 5_000;
  const some = (held: number, blindOnes: number, ms: number): PageSample => ({
    at: time,
    counts: {
      'losing nodes': index > 570 ? 1 : 0,
      held,
      blind: blindOnes,
      landing: index > 200 && index < 220 ? 9 : 0,
      healthy: 300 - held,
    },
    margin: { ms, graceMs: 40_000 },
  });
  if (index > 150 && index < 220) return some(12, index > 180 ? 3 : 0, 12_000);
  return index > 540 ? some(238, 2, 2_500) : { at: time, counts: { healthy: 300 } };
});
