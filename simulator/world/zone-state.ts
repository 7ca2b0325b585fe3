/** Share of a shoot's nodes that are not ready. All nodes of a simulated shoot are in one zone. */
export type ZoneState = 'normal' | 'partial-disruption' | 'full-disruption';

/** KCM's `--unhealthy-zone-threshold`. */
const unhealthyZoneThreshold = 0.55;
/** KCM's `--large-cluster-size-threshold`. */
const largeClusterSize = 50;
/** `--node-eviction-rate` divided by `--secondary-node-eviction-rate`. */
const secondaryFactor = 10;

/** `ComputeZoneState` in KCM's node lifecycle controller. */
export const zoneStateOf = ({ ready, notReady }: { readonly ready: number; readonly notReady: number }): ZoneState => {
  if (ready === 0 && notReady > 0) return 'full-disruption';
  const isUnhealthy = notReady > 2 && notReady / (ready + notReady) >= unhealthyZoneThreshold;
  return isUnhealthy ? 'partial-disruption' : 'normal';
};

/**
 * Returns the shortest time between the evictions of two nodes, in milliseconds. Infinity means no evictions: most nodes of a small
 * cluster, or all nodes of any, are not ready (`ReducedQPSFunc` and `handleDisruption`). `nodeEvictionMs` is the time in a healthy zone.
 */
export const evictionIntervalMs = (state: ZoneState, nodes: number, nodeEvictionMs: number): number => {
  switch (state) {
    case 'normal':
      return nodeEvictionMs;
    case 'partial-disruption':
      return nodes > largeClusterSize ? nodeEvictionMs * secondaryFactor : Number.POSITIVE_INFINITY;
    case 'full-disruption':
      return Number.POSITIVE_INFINITY;
  }
};
