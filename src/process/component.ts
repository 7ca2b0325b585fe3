import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { LeaderWatch, Leadership } from '../kubernetes/api/leadership.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import type { ComponentParts } from './reloadable.ts';
import type { RightsCheckOptions } from './rights/index.ts';

/** Name of the Lease by which a component elects its leader: the Go program's, so that the two hand over to each other. */
export const leaseNameOf = (component: string): string => `dwd-${component}-leader-election`;

export const userAgentOf = ({ version }: { readonly version: string }): string => `dependency-watchdog/${version}`;

/** What a component is given to work with. */
export interface ComponentPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Transport to the seed, with all its policies. */
  readonly seed: Kube;
  /** Of this process, as it signs what it writes. */
  readonly identity: string;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch;
}

export interface ComponentOptions<Settings, Ports = ComponentPorts> {
  readonly settings: Settings;
  readonly ports: Ports;
  /** Reconciles at the same time. */
  readonly concurrency: number;
  /** Where it runs, which is where its Lease is. Default: garden. */
  readonly home?: string;
  /** Writes nothing; the log says what it would write. */
  readonly dryRun?: boolean;
}

export interface Component<Settings> {
  /** Lease by which its leader is elected. */
  readonly leaseName: string;
  /** Requests to the seed that may be in flight at the same time outside of `--kube-api-qps`. */
  readonly urgentInFlight: number;
  /** Its controller runs in replicas that do not lead, too. Default: false. */
  readonly startsBeforeLead?: boolean;
  /** Rights that it needs in the seed. */
  readonly neededRights: RightsCheckOptions<Settings>['needed'];
  /** Rights that it needs in the garden, where it works there, and whom to ask for them. */
  readonly garden?: { readonly client: KubeClient; readonly neededRights: RightsCheckOptions<Settings>['needed'] };
  readonly create: (options: ComponentOptions<Settings> & { readonly userAgent: string }) => ComponentParts<Settings>;
}
