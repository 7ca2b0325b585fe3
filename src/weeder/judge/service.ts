import type { EndpointSliceView } from '../../kubernetes/api/endpoint-slice.ts';
import type { Weeding, WeederEvent } from '../events.ts';

/**
 * True if one of the service's EndpointSlices has a ready endpoint. Slices that are mirrored from an Endpoints object count only if the service has no other:
 * they stay, ready for ever, if that object is forgotten.
 */
export const isReady = (slices: readonly EndpointSliceView[]): boolean => {
  const own = slices.filter(({ mirrored }) => !mirrored);
  return (own.length > 0 ? own : slices).some(({ ready }) => ready);
};

/** State of one service of one namespace. */
export interface ServiceState {
  readonly ready: boolean;
  readonly weeding?: Weeding;
}

export interface ServiceObservation {
  readonly namespace: string;
  readonly service: string;
  readonly ready: boolean;
  readonly now: number;
  readonly watchDurationMs: number;
}

export interface ServiceVerdict {
  readonly state: ServiceState;
  readonly events: readonly WeederEvent[];
}

/**
 * Starts and ends the weeding of a service. It starts when the service becomes ready or is ready at the first observation (it may have become ready while no
 * weeder ran). It ends when its time is over, or when the service becomes unready: deleting pods that cannot start is useless.
 */
export const judgeService = (before: ServiceState | undefined, observed: ServiceObservation): ServiceVerdict => {
  const { namespace, service, ready, now, watchDurationMs } = observed;
  const weeding = before?.weeding;
  const ended = (why: 'expired' | 'not-ready'): ServiceVerdict => ({
    state: { ready },
    events: weeding === undefined ? [] : [{ type: 'weeding-ended', weeding, why }],
  });
  if (!ready) return ended('not-ready');
  if (before?.ready !== true) {
    const started = { namespace, service, readyAt: now, endsAt: now + watchDurationMs };
    return { state: { ready, weeding: started }, events: [{ type: 'weeding-started', weeding: started }] };
  }
  return weeding !== undefined && now >= weeding.endsAt ? ended('expired') : { state: before, events: [] };
};
