import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Decision } from '../judge/judgement.ts';
import type { Operation } from '../scale/operation.ts';
import type { Direction } from '../scale/patch-plan.ts';
import { type Scaling, createScaling } from '../scale/scaling.ts';
import type { EventOf } from '../report/events.ts';
import { dependent } from './cases.ts';
import { deployment, objectOf, stateOf } from './seed-model.ts';

export const kcm = deployment('kcm');

export const runEnded = (
  cluster: string,
  decision: Decision,
  given: Partial<EventOf<'run-ended'>> = {},
): EventOf<'run-ended'> => ({
  kind: 'run-ended',
  cluster,
  result: { decision, durationMs: 1 },
  before: { probe: decision.memory },
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

/** The API server has accepted a write that scales `kcm` to this number of replicas, or without one removes its mark. */
export const wrote = (
  cluster: string,
  { from, to, ...given }: { readonly from: number; readonly to?: number } & Partial<EventOf<'response-received'>>,
): EventOf<'response-received'> => {
  const key = refKey(kcm);
  const base = stateOf(objectOf(kcm, { replicas: from }));
  return {
    kind: 'response-received',
    cluster,
    scaling: scalingOf(to === 0 ? 'down' : 'release', { kind: 'deciding' }),
    action: { kind: 'write', key, write: { base, kind: 'object', replicas: to } },
    outcome: { key, result: { ok: true, value: base } },
    ref: kcm,
    now: 0,
    ...given,
  };
};
