import { observeLeases } from '../judge/leases.ts';
import { type Decision, type ProbeMemory, type Verdict, emptyProbeMemory } from '../judge/judgement.ts';
import type { EventOf, ShootProberView } from '../report/events.ts';
import { type ShootProberState, initialState } from '../scale/advance-shoot.ts';
import type { Operation } from '../scale/operation.ts';
import type { Direction } from '../scale/patch-plan.ts';
import { type Scaling, createScaling } from '../scale/scaling.ts';
import { defaultSettings as settings } from './probe-run.ts';
import { dependent, deployment } from './resources.ts';

export const kcm = deployment('kcm');

/** Leases by name, with the monotonic instant of their last renewal; listed at `at`. */
export const memoryOf = (leases: Readonly<Record<string, number>>, at: number): ProbeMemory => {
  const items = Object.entries(leases).map(([name, ms]) =>
    Number.isFinite(ms) ? { name, renewTime: ms * 1_000, stampedAt: ms * 1_000 } : { name },
  );
  const list = { items, sentAt: at, receivedAt: at, serverNow: at };
  return { ...emptyProbeMemory, leases: observeLeases(list, emptyProbeMemory, settings), listedAt: at };
};

export const sightOf = (
  given: Partial<ShootProberState> = {},
  held: ShootProberView['held'] = [],
): ShootProberView => ({
  state: { ...initialState({ probe: emptyProbeMemory, nextRunAt: 0 }), ...given },
  settings,
  held,
  ignored: [],
  up: [],
  stillRunning: [],
  missing: [],
  notServed: [],
  unread: [],
  access: () => ({ secret: 'a/b', key: 'kubeconfig' }),
});

export const decisionOf = (verdict: Verdict, given: Partial<Decision> = {}): Decision => ({
  verdict,
  reason: verdict.kind,
  nextRunAt: 0,
  memory: emptyProbeMemory,
  ...given,
});

export const runEnded = (
  cluster: string,
  decision: Decision,
  given: Partial<EventOf<'run-ended'>> = {},
): EventOf<'run-ended'> => ({
  kind: 'run-ended',
  cluster,
  result: { decision, durationMs: 1 },
  before: decision.memory,
  ...given,
});

/** A scaling of one resource, `kcm`, whose operation is in this phase. */
export const scalingOf = (direction: Direction, phase: Operation['phase']): Scaling => {
  const desired = { direction, scope: 'all', reason: '3/5 node leases expired', since: 0, judgedAt: 0 } as const;
  const scaling = createScaling(desired, {
    resources: [dependent(kcm)],
    now: 0,
    inFlight: new Set(),
    mustRead: false,
  });
  return { ...scaling, operations: scaling.operations.map((operation) => ({ ...operation, phase })) };
};
