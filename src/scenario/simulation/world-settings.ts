import type { LeaderElectionSettings, ProberSettings } from '../../domain/index.ts';
import { leaseNamespace } from '../replica.ts';
import { gardenSettings } from '../settings.ts';

/** What a hot reload may change, by the number that a plan names. */
export const otherSettings: readonly Partial<ProberSettings>[] = [
  { probeIntervalMs: 5_000 },
  { nodeLeaseFailureFraction: 0.8 },
  { dependentResources: gardenSettings.dependentResources.slice(0, 2) },
  {
    dependentResources: gardenSettings.dependentResources.map((resource) => ({
      ...resource,
      scaleUp: { ...resource.scaleUp, initialDelayMs: 0 },
    })),
  },
];

export const settingsOf = (reload: number | undefined): ProberSettings => ({
  ...gardenSettings,
  ...(reload === undefined ? {} : otherSettings[reload]),
});

/** Defaults of the command line. */
export const electionSettings = (enabled: boolean): LeaderElectionSettings => ({
  enabled,
  namespace: leaseNamespace,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
});
