import type { LoadedConfig, Outline } from '../config/index.ts';
import { createKubeClient } from '../kubernetes/client/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { RightsCheck } from './check-rights.ts';
import type { Component } from './component.ts';
import { watchConfig } from './config-watch.ts';
import type { Check, MetricsSource } from './endpoints.ts';
import { leaseGrants, rightsOf } from './grants.ts';
import { type ProcessParts, type SeedPorts, runSeedProcess } from './seed-process.ts';
import type { ProcessOptions } from './settings.ts';

export interface ProcessDeps<Settings> {
  readonly settings: Settings;
  readonly flags: ProcessOptions;
  /** The settings' file, watched for changes. */
  readonly configFile: string;
  readonly readFile: (path: string) => Promise<string>;
  /** Reads the text of that file. */
  readonly load: (text: string, inForce?: Outline) => LoadedConfig<Settings>;
  /** Of the file that the settings came from. */
  readonly outline?: Outline | undefined;
  /** Oddities of that file that are no errors. */
  readonly configWarnings: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: Meter & MetricsSource;
  /** Of the program, for the User-Agent. */
  readonly version: string;
  /** Aborts when the program is to stop. */
  readonly stop: AbortSignal;
}

/** A component as a process: everything between its settings and its exit code, which is 0 after a stop and 1 after a failure. */
export const runComponent = <Settings>(
  component: Component<Settings>,
  deps: ProcessDeps<Settings>,
): Promise<number> => {
  const { leaseName, urgentInFlight } = component;
  const userAgent = `dependency-watchdog/${deps.version}`;
  // A rehearsal must never take the Lease from the program that protects.
  const lease = deps.flags.dryRun ? `${leaseName}-dry-run` : leaseName;
  const start = (ports: SeedPorts): ProcessParts => partsOf(component, { ...deps, ports, userAgent, lease });
  return runSeedProcess({ ...deps, leaseName: lease, urgentInFlight, userAgent, start });
};

interface PartsDeps<Settings> extends ProcessDeps<Settings> {
  readonly ports: SeedPorts;
  readonly userAgent: string;
  readonly lease: string;
}

const dryRunCheck: Check = { name: 'dry-run', ok: true, detail: 'nothing is written' };

const partsOf = <Settings>(component: Component<Settings>, deps: PartsDeps<Settings>): ProcessParts => {
  const { ports, settings, flags, userAgent, lease } = deps;
  const { clock, reviews } = ports;
  const { dryRun, leaderElection, concurrentReconciles: concurrency } = flags;
  const parts = component.create({ settings, ports, concurrency, dryRun, userAgent });
  const client = createKubeClient({ kube: reviews, clock });
  const { garden } = component;
  const electing = leaderElection.enabled ? rightsOf(leaseGrants(lease, leaderElection.namespace)) : [];
  const needed: typeof component.neededRights = async (wanted, inquiry) => [
    ...(await component.neededRights(wanted, inquiry)),
    ...electing,
  ];
  const rights = [
    new RightsCheck({ ...deps, client, clock, needed }),
    ...(garden === undefined
      ? []
      : [new RightsCheck({ ...deps, client: garden.client, clock, needed: garden.neededRights, cluster: 'garden' })]),
  ];
  const config = watchConfig({
    ...deps,
    path: deps.configFile,
    warnings: deps.configWarnings,
    clock,
    apply: (changed) => {
      parts.apply(changed);
      for (const check of rights) check.apply(changed);
    },
  });
  return {
    standby: [parts.caches, config, ...rights],
    leading: [parts.controller],
    checks: () => (dryRun ? [dryRunCheck, ...parts.checks()] : parts.checks()),
  };
};
