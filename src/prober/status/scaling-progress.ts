import type { Flow } from '../plan/flow-state.ts';
import type { Operation } from '../plan/operation.ts';
import { type ClockReading, timeAt } from './clock-reading.ts';
import type { ScalingProgress } from './schema.ts';

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

/** Describes what a flow waits for: `, waiting for kube-controller-manager (for its pods to follow)`; empty if there is no flow or no wait. */
export const describeWaiting = ({ flow }: { readonly flow?: Flow | undefined }): string => {
  const next = flow?.operations.find(({ phase }) => phase.kind === 'settling' || phase.kind === 'waiting');
  if (next === undefined) return '';
  const { state, detail = '' } = stateOf(next);
  return `, waiting for ${next.resource.ref.name} (${state === 'delayed' ? 'delayed ' : ''}${detail})`;
};

/** Returns what a flow has done, and what it waits for. */
export const scalingProgress = (flow: Flow, reading: ClockReading): ScalingProgress => ({
  direction: flow.direction,
  reason: flow.reason,
  startedAt: timeAt(flow.startedAt, reading),
  ...(flow.withoutLead === undefined ? {} : { withoutLead: flow.withoutLead.words }),
  steps: flow.operations.map((operation) => {
    const { kind, name } = operation.resource.ref;
    return { kind, name, level: operation.info.level, ...stateOf(operation) };
  }),
});
