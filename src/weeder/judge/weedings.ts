/** The time after a service became ready, in which the pods that depend on it are weeded. Times are monotonic milliseconds. */
export interface Weeding {
  readonly namespace: string;
  readonly service: string;
  readonly readyAt: number;
  readonly endsAt: number;
}

/** One service of one namespace, as kept from one observation to the next. */
export interface ServiceState {
  readonly ready: boolean;
  readonly weeding?: Weeding;
}

export interface ServiceObservation {
  readonly namespace: string;
  readonly service: string;
  /** Readiness of the service, over all of its EndpointSlices. */
  readonly ready: boolean;
  /** True if it was not ready at some time since the last observation. */
  readonly wasUnready: boolean;
  readonly now: number;
  readonly watchDurationMs: number;
}

export interface WeedingEnd {
  readonly weeding: Weeding;
  readonly why: 'expired' | 'replaced' | 'not-ready' | 'stopped';
}

export interface ServiceStep {
  readonly state: ServiceState;
  readonly ended?: WeedingEnd;
  readonly started?: Weeding;
}

/**
 * A weeding starts when a service becomes ready, and when it is ready at the first observation (it may have become ready while no weeder ran). It
 * ends when its time is over, when the next one starts, and when the service is not ready any more: pods that cannot start need no delete. Pure.
 */
export const advanceService = (before: ServiceState | undefined, observed: ServiceObservation): ServiceStep => {
  const { ready, now } = observed;
  const weeding = before?.weeding;
  const becameReady = ready && (before?.ready !== true || observed.wasUnready);
  if (becameReady) {
    const { namespace, service, watchDurationMs } = observed;
    const started = { namespace, service, readyAt: now, endsAt: now + watchDurationMs };
    return { state: { ready, weeding: started }, started, ...endOf(weeding, 'replaced') };
  }
  if (!ready) return { state: { ready }, ...endOf(weeding, 'not-ready') };
  if (weeding !== undefined && now >= weeding.endsAt) return { state: { ready }, ...endOf(weeding, 'expired') };
  return { state: before ?? { ready } };
};

const endOf = (weeding: Weeding | undefined, why: WeedingEnd['why']): Pick<ServiceStep, 'ended'> =>
  weeding === undefined ? {} : { ended: { weeding, why } };
