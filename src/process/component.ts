import type { Kube, KubeClient } from '../kubernetes/api/kube.ts';
import type { LeaderWatch, Leadership } from '../kubernetes/api/leadership.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import type { ComponentParts } from './reloadable.ts';
import type { RightsCheckOptions } from './rights/index.ts';

/** Name of the Lease for a component's leader election. The Go program uses the same one, so that only one of the two leads. */
export const leaseNameOf = (component: string): string => `dwd-${component}-leader-election`;

export const userAgentOf = ({ version }: { readonly version: string }): string => `dependency-watchdog/${version}`;

/** Ports and clients that a component works with. */
export interface ComponentPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Sends requests to the seed, with all policies applied. */
  readonly seed: Kube;
  /** Identity of this process, with which it signs its writes. */
  readonly identity: string;
  readonly leadership: Leadership;
  /** Absent without leader election. */
  readonly leaderWatch?: LeaderWatch;
}

export interface ComponentOptions<Settings, Ports = ComponentPorts> {
  readonly settings: Settings;
  readonly ports: Ports;
  /** Namespace that the component and its Lease are in. Default: garden. */
  readonly ownNamespace?: string;
  /** True if the component logs its writes instead of sending them. Default: false. */
  readonly dryRun?: boolean;
  /** To be called with settings that the component has found itself: checks the rights that they need. */
  readonly checkRights?: (settings: Settings) => void;
}

export interface CreateOptions {
  readonly userAgent: string;
  /** Environment of the process, for its proxies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Component<Settings> {
  /** Name of the Lease for its leader election. */
  readonly leaseName: string;
  /** Maximum number of requests to the seed in flight that `--kube-api-qps` does not limit. */
  readonly urgentInFlight: number;
  /** True if its controller also runs in replicas that do not lead. Default: false. */
  readonly runsOnStandby?: boolean;
  /** True if two installations in one cluster may harm each other. Default: false. */
  readonly isAloneInCluster?: boolean;
  /** Returns the rights that it needs in the seed. */
  readonly neededRights: RightsCheckOptions<Settings>['needed'];
  /** Rights that it needs in the garden, and the client that checks them. Absent if it does not use the garden. */
  readonly garden?: { readonly client: KubeClient; readonly neededRights: RightsCheckOptions<Settings>['needed'] };
  readonly create: (options: ComponentOptions<Settings> & CreateOptions) => ComponentParts<Settings>;
}
