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

/** A service that is ready, and the weeding that this has started, while it lasts. */
export interface ReadyService {
  readonly weeding?: Weeding;
}

export interface ServiceObservation {
  readonly namespace: string;
  readonly service: string;
  readonly ready: boolean;
  readonly now: number;
  readonly watchDurationMs: number;
}

/**
 * Starts and ends the weeding of a service. It starts when the service becomes ready or is ready at the first observation (it may have become ready while no
 * weeder ran). It ends when its time is over, or when the service becomes unready: deleting pods that cannot start is useless. `before` and `after` are
 * undefined while the service is not ready.
 */
export const judgeService = (
  before: ReadyService | undefined,
  { namespace, service, ready, now, watchDurationMs }: ServiceObservation,
): { readonly after: ReadyService | undefined; readonly events: readonly WeederEvent[] } => {
  const weeding = before?.weeding;
  const ended = (why: 'expired' | 'not-ready'): readonly WeederEvent[] =>
    weeding === undefined ? [] : [{ type: 'weeding-ended', weeding, why }];
  if (!ready) return { after: undefined, events: ended('not-ready') };
  if (before === undefined) {
    const started = { namespace, service, readyAt: now, endsAt: now + watchDurationMs };
    return { after: { weeding: started }, events: [{ type: 'weeding-started', weeding: started }] };
  }
  if (weeding === undefined || now < weeding.endsAt) return { after: before, events: [] };
  return { after: {}, events: ended('expired') };
};
