import { observeLeases } from '../judge/leases.ts';
import {
  type Decision,
  type ProbeSettings,
  type ProbeMemory,
  emptyProbeMemory,
  type Verdict,
} from '../judge/judgement.ts';
import { type ShootProberState, initialState } from '../scale/advance-shoot.ts';
import type { ShootProberView } from '../report/events.ts';

export const settings: ProbeSettings = {
  probeIntervalMs: 10_000,
  backoffJitterFactor: 0,
  expiryAgeMs: 30_000,
  graceMs: 40_000,
  landingTimeoutMs: 60_000,
  nodeLeaseFailureFraction: 0.6,
  poolConditions: new Map(),
};

export const healthy: Verdict = { kind: 'healthy', scope: 'all' };

/** Leases by name, with the monotonic instant of their last renewal; listed at `at`. */
export const memoryOf = (leases: Readonly<Record<string, number>>, at: number): ProbeMemory => {
  const items = Object.entries(leases).map(([name, ms]) =>
    Number.isFinite(ms) ? { name, renewTime: ms * 1_000, stampedAt: ms * 1_000 } : { name },
  );
  const never = Number.NEGATIVE_INFINITY;
  const list = { items, sentAt: at, receivedAt: at, serverNow: at };
  const observing = { previous: [], previousSentAt: never, excusedUntil: never, settings };
  return { ...emptyProbeMemory, leases: observeLeases(list, observing), listedAt: at };
};

const stateOf = (given: Partial<ShootProberState> = {}): ShootProberState => ({
  ...initialState({ probe: emptyProbeMemory, nextRunAt: 0 }),
  ...given,
});

export const sightOf = (
  given: Partial<ShootProberState> = {},
  held: ShootProberView['held'] = [],
): ShootProberView => ({
  state: stateOf(given),
  settings,
  held,
  ignored: [],
  up: [],
  missing: [],
  notServed: [],
  access: () => ({ secret: 'a/b', key: 'kubeconfig' }),
});

export const decisionOf = (verdict: Verdict, given: Partial<Decision> = {}): Decision => ({
  verdict,
  reason: verdict.kind,
  nextRunAt: 0,
  memory: emptyProbeMemory,
  ...given,
});
