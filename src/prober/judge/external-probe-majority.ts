import type { Reachability } from './probe-input.ts';

/** Result of one shoot's external probe, as it counts in the comparison of all shoots. */
export type ExternalProbeResult =
  | Exclude<Reachability, 'unreachable'>
  | 'unreachable'
  /** Unreachable, although a lease of the shoot was renewed since: its kubelets reach the API server. */
  | 'unreachable-for-us';

export interface ExternalProbeFacts {
  readonly state: Reachability;
  /** Start of the first of the consecutive failed attempts. */
  readonly failingSince?: number | undefined;
  /** A lease was certainly renewed after this instant. Undefined while all leases are silent or cannot be listed. */
  readonly renewedSince?: number | undefined;
}

export const externalProbeResultOf = ({
  state,
  failingSince,
  renewedSince,
}: ExternalProbeFacts): ExternalProbeResult => {
  if (state !== 'unreachable') return state;
  const isRenewed = failingSince !== undefined && renewedSince !== undefined && renewedSince >= failingSince;
  return isRenewed ? 'unreachable-for-us' : 'unreachable';
};

/** Fewer unreachable addresses than this do not show a fault of ours, however few addresses there are. */
const fewest = 3;

/**
 * True if the fault is ours: three or more addresses, and more than half of those whose state is known, are unreachable while leases are renewed. In an
 * outage of the whole seed leases are not renewed, and the addresses count.
 */
export const isFaultOurs = (results: Iterable<ExternalProbeResult>): boolean => {
  const known = [...results].filter((result) => result !== 'unknown');
  const unreachable = known.filter((result) => result === 'unreachable-for-us').length;
  return unreachable >= fewest && unreachable * 2 > known.length;
};

/** The external probes of a seed, by shoot. */
export interface ExternalProbeRegistry {
  /** True if the fault is ours. No shoot's external probe counts then. */
  faultIsOurs(): boolean;
  set(namespace: string, facts: ExternalProbeFacts): void;
  forget(namespace: string): void;
  /** Ends the calls of `onChange`; the next configuration's registry takes over. */
  close(): void;
}

export interface ExternalProbeRegistryOptions {
  /** Facts from the previous configuration's registry. */
  readonly initial: Iterable<readonly [namespace: string, facts: ExternalProbeFacts]>;
  /** Called when `faultIsOurs` changes. */
  readonly onChange: (faultIsOurs: boolean) => void;
}

export const createExternalProbeRegistry = ({
  initial,
  onChange,
}: ExternalProbeRegistryOptions): ExternalProbeRegistry => {
  const results = new Map(Array.from(initial, ([namespace, facts]) => [namespace, externalProbeResultOf(facts)]));
  let ours = isFaultOurs(results.values());
  let isClosed = false;

  const judge = (): void => {
    const now = isFaultOurs(results.values());
    if (now === ours) return;
    ours = now;
    if (!isClosed) onChange(now);
  };

  return {
    faultIsOurs: () => ours,
    set: (namespace, facts) => {
      const result = externalProbeResultOf(facts);
      if (results.get(namespace) === result) return;
      results.set(namespace, result);
      judge();
    },
    forget: (namespace) => {
      if (results.delete(namespace)) judge();
    },
    close: () => {
      isClosed = true;
    },
  };
};
