import type { Reachability } from './probe-input.ts';

/** What one shoot's external probe shows of all of them. */
export type Standing =
  | Exclude<Reachability, 'unreachable'>
  | 'unreachable'
  /** Unreachable, and yet a lease of the shoot was renewed since: whoever renews them gets through. */
  | 'unreachable-for-us';

export interface ExternalProbeFacts {
  readonly state: Reachability;
  /** Start of the first of the failed attempts in a row. */
  readonly failingSince?: number | undefined;
  /** Since this instant a lease was renewed for certain; undefined while all of them are silent, or cannot be seen. */
  readonly renewedSince?: number | undefined;
}

export const standingOf = ({ state, failingSince, renewedSince }: ExternalProbeFacts): Standing => {
  if (state !== 'unreachable') return state;
  const isRenewed = failingSince !== undefined && renewedSince !== undefined && renewedSince >= failingSince;
  return isRenewed ? 'unreachable-for-us' : 'unreachable';
};

/** Fewer unreachable addresses than this are no sign of a fault of ours, however few there are in all. */
const fewest = 3;

/**
 * True if the fault is ours: of all addresses that are judged, more than half, and three or more, are unreachable while leases renew. In an outage
 * of the whole seed leases do not renew, and the addresses count.
 */
export const isFaultOurs = (standings: Iterable<Standing>): boolean => {
  const judged = [...standings].filter((standing) => standing !== 'unknown');
  const unreachable = judged.filter((standing) => standing === 'unreachable-for-us').length;
  return unreachable >= fewest && unreachable * 2 > judged.length;
};

/** The external probes of a seed, by shoot. */
export interface ExternalProbeRegistry {
  /** True if no shoot's external probe counts. */
  faultIsOurs(): boolean;
  set(namespace: string, facts: ExternalProbeFacts): void;
  forget(namespace: string): void;
  /** No more calls of `onChange`; the registry of the next configuration goes on from here. */
  close(): void;
}

export interface ExternalProbeRegistryOptions {
  /** What was known under the configuration before. */
  readonly initial: Iterable<readonly [namespace: string, facts: ExternalProbeFacts]>;
  /** Called when `faultIsOurs` changes. */
  readonly onChange: (faultIsOurs: boolean) => void;
}

export const createExternalProbeRegistry = ({
  initial,
  onChange,
}: ExternalProbeRegistryOptions): ExternalProbeRegistry => {
  const standings = new Map(Array.from(initial, ([namespace, facts]) => [namespace, standingOf(facts)]));
  let ours = isFaultOurs(standings.values());
  let isClosed = false;

  const judge = (): void => {
    const now = isFaultOurs(standings.values());
    if (now === ours) return;
    ours = now;
    if (!isClosed) onChange(now);
  };

  return {
    faultIsOurs: () => ours,
    set: (namespace, facts) => {
      const standing = standingOf(facts);
      if (standings.get(namespace) === standing) return;
      standings.set(namespace, standing);
      judge();
    },
    forget: (namespace) => {
      if (standings.delete(namespace)) judge();
    },
    close: () => {
      isClosed = true;
    },
  };
};
