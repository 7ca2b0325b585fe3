/** The time in which the pods that depend on one service are weeded, after it became ready. Times are monotonic milliseconds. */
export interface Weeding {
  readonly namespace: string;
  readonly service: string;
  /** When the service was seen to be ready. */
  readonly readyAt: number;
  readonly endsAt: number;
}

/** One service of one namespace, as remembered from look to look. */
export interface ServiceState {
  readonly ready: boolean;
  readonly weeding?: Weeding;
}

export interface ServiceLook {
  readonly namespace: string;
  readonly service: string;
  /** Of the service, over all of its EndpointSlices. */
  readonly ready: boolean;
  /** It was not ready at some time since the last look. */
  readonly wasUnready: boolean;
  readonly now: number;
  readonly watchDurationMs: number;
}

export type WeedingEnd = 'expired' | 'replaced' | 'not-ready' | 'stopped';

export interface ServiceStep {
  readonly state: ServiceState;
  readonly ended?: { readonly weeding: Weeding; readonly why: WeedingEnd };
  readonly started?: Weeding;
}

/**
 * A weeding starts when a service becomes ready, and at the first look at one that is (it may have become so while nobody looked). It
 * ends with its time, with the next one, and when the service is lost again: deleting pods that cannot start helps nobody. Pure.
 */
export const advanceService = (before: ServiceState | undefined, look: ServiceLook): ServiceStep => {
  const { ready, now } = look;
  const weeding = before?.weeding;
  const becameReady = ready && (before?.ready !== true || look.wasUnready);
  if (becameReady) {
    const { namespace, service, watchDurationMs } = look;
    const started = { namespace, service, readyAt: now, endsAt: now + watchDurationMs };
    return { state: { ready, weeding: started }, started, ...endOf(weeding, 'replaced') };
  }
  if (!ready) return { state: { ready }, ...endOf(weeding, 'not-ready') };
  if (weeding !== undefined && now >= weeding.endsAt) return { state: { ready }, ...endOf(weeding, 'expired') };
  return { state: before ?? { ready } };
};

const endOf = (weeding: Weeding | undefined, why: WeedingEnd): Pick<ServiceStep, 'ended'> =>
  weeding === undefined ? {} : { ended: { weeding, why } };
