import { type SeedFindings, type SeedStatus, judgeSeed } from '../judge.ts';
import type { ProberStatus, ShootFacts, ShootStatus } from '../state/schema.ts';
import { at as readAt, before, factsIn, factsOf, toldOf } from '../state/testing/facts.ts';

export { before };

/** A shoot with these facts, and what they mean. */
export const shootOf = (name: string, given: Partial<ShootFacts> = {}): ShootStatus => toldOf(factsOf(name, given));

export const landingShoot = { ...toldOf(factsIn('one', 'landing', 'held')), since: before(192) };
export const pausedShoot = { ...toldOf(factsIn('two', 'paused')), since: before(3_720) };
export const ignoringShoot = toldOf(factsIn('twin', 'ignored'));
export const losingShoot = toldOf(factsIn('lost', 'silent', 'writeRefused'));
export const blindShoot = toldOf(factsIn('one', 'silent', 'held', 'refused'));
export const unprobedShoot = toldOf(factsIn('three', 'undecodable', 'held'));

export const proberOf = (shoots: readonly ShootStatus[], given: Partial<ProberStatus> = {}): ProberStatus => ({
  schemaVersion: 1,
  component: 'prober',
  seed: 'aws-eu10',
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
  connectedTo: 'of context test',
  objects: {
    lease: { holder: 'dwd-prober-a_1f', since: before(7_200), isFresh: true },
    replicas: [
      { pod: 'dwd-prober-a', isReady: true, healthPort: 9_644 },
      { pod: 'dwd-prober-b', isReady: true, healthPort: 9_644 },
    ],
    problems: [],
  },
  answer: undefined,
  held: undefined,
  problems: [],
  ...given,
});

export const statusOf = (...shoots: readonly ShootStatus[]): SeedStatus =>
  judgeSeed(findingsOf({ answer: proberOf(shoots) }));
