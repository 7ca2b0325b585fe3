import type { Scaling } from '../scale/scaling.ts';
import { type Operation, isOver } from '../scale/operation.ts';
import { type ClockReading, timeAt } from './clock-reading.ts';
import type { ScalingProgress, ShootFacts } from '../../status/state/schema.ts';

type Step = ScalingProgress['steps'][number];

/** Maximum length of an error message, in UTF-16 code units. */
const longestDetail = 300;

const stateOf = ({ phase, attempts }: Operation): Pick<Step, 'state' | 'detail'> => {
  switch (phase.kind) {
    case 'idle':
    case 'deciding':
      return { state: 'pending' };
    case 'awaiting-verdict':
      return { state: 'waiting', detail: 'for a fresh verdict' };
    case 'reading':
    case 'writing':
      return { state: phase.kind };
    case 'waiting':
      return attempts > 0
        ? { state: 'retrying', detail: `${String(attempts)} failed attempts` }
        : { state: 'delayed', detail: 'by its initialDelay' };
    case 'settling':
      return { state: 'waiting', detail: 'for its pods to follow' };
    case 'done':
      return { state: 'done', detail: phase.outcome };
    case 'failed':
      return { state: 'failed', detail: phase.error.message.slice(0, longestDetail) };
  }
};

const awaitedIn = ({ operations }: Scaling): Operation | undefined =>
  operations.find(
    ({ phase }) => phase.kind === 'settling' || phase.kind === 'waiting' || phase.kind === 'awaiting-verdict',
  );

/** Says what a resource does until it is its turn. */
const waitOf = (operation: Operation): string => {
  const { state, detail = '' } = stateOf(operation);
  if (state === 'delayed') return 'follows after its initialDelay';
  return state === 'retrying' ? `is tried again after ${detail}` : `waits ${detail}`;
};

/** Describes what a scaling waits for: `, waiting for kube-controller-manager (for its pods to follow)`; empty if there is none or no wait. */
export const describeWaiting = ({ scaling }: { readonly scaling?: Scaling | undefined }): string => {
  const next = scaling && awaitedIn(scaling);
  if (next === undefined) return '';
  const { state, detail = '' } = stateOf(next);
  return `, waiting for ${next.resource.ref.name} (${state === 'delayed' ? 'delayed ' : ''}${detail})`;
};

/** Returns how far a scaling is, and what it waits for; undefined without one. */
export const progressOf = (scaling: Scaling | undefined, reading: ClockReading): ShootFacts['progress'] => {
  if (scaling === undefined) return undefined;
  const { direction, operations } = scaling;
  const next = awaitedIn(scaling);
  const until = next?.phase.kind === 'waiting' ? next.phase.until : undefined;
  return {
    direction,
    done: operations.filter(isOver).length,
    total: operations.length,
    awaited: next && {
      name: next.resource.ref.name,
      why: waitOf(next),
      until: until === undefined ? undefined : timeAt(until, reading),
    },
  };
};

/** Returns what a scaling has done, and what it waits for. */
export const scalingProgress = (scaling: Scaling, reading: ClockReading): ScalingProgress => ({
  direction: scaling.direction,
  reason: scaling.reason,
  startedAt: timeAt(scaling.startedAt, reading),
  withoutLead: scaling.withoutLead,
  steps: scaling.operations.map((operation) => {
    const { kind, name } = operation.resource.ref;
    return { kind, name, level: operation.info.level, ...stateOf(operation) };
  }),
});
