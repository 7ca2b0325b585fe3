/** The time after a service became ready, in which its crash-looping dependent pods are deleted. Times are monotonic milliseconds. */
export interface Weeding {
  readonly namespace: string;
  readonly service: string;
  readonly readyAt: number;
  readonly endsAt: number;
}

/** State of one service of one namespace between two observations. */
export interface ServiceState {
  readonly ready: boolean;
  readonly weeding?: Weeding;
}

export interface ServiceObservation {
  readonly namespace: string;
  readonly service: string;
  /** True if any EndpointSlice of the service has a ready endpoint. */
  readonly ready: boolean;
  /** True if the service was not ready at some time since the last observation. */
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
 * Starts and ends the weeding of a service. It starts when the service becomes ready or is ready at the first observation (it may have become ready while no
 * weeder ran). It ends when its time is over, when the next one starts, or when the service becomes unready: deleting pods that cannot start is useless. Pure.
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
