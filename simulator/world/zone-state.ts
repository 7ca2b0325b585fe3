/** How much of a shoot is gone; a simulated shoot has all its nodes in one zone. */
export type ZoneState = 'normal' | 'partial-disruption' | 'full-disruption';

/** KCM's `--unhealthy-zone-threshold`. */
const unhealthyZoneThreshold = 0.55;
/** KCM's `--large-cluster-size-threshold`. */
const largeClusterSize = 50;
/** `--node-eviction-rate` by `--secondary-node-eviction-rate`. */
const secondaryFactor = 10;

/** `ComputeZoneState` of KCM's node lifecycle controller. */
export const zoneStateOf = ({ ready, notReady }: { readonly ready: number; readonly notReady: number }): ZoneState => {
  if (ready === 0 && notReady > 0) return 'full-disruption';
  const isUnhealthy = notReady > 2 && notReady / (ready + notReady) >= unhealthyZoneThreshold;
  return isUnhealthy ? 'partial-disruption' : 'normal';
};

/**
 * The shortest time between two nodes whose pods are given up, Infinity where none are: when most of a small cluster is gone, or all of
 * any (`ReducedQPSFunc` and `handleDisruption`). `nodeEvictionMs` is that of a healthy zone.
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
