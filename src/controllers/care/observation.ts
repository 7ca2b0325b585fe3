import type {
  CareDeployment,
  CareExtensionKind,
  CareSettings,
  CareShoot,
  EtcdHealth,
  ExtensionReport,
  MachineDeploymentHealth,
  MachineProgress,
  ManagedResourceHealth,
  WorkerNode,
  NodeLease,
  Result,
} from '../../domain/index.ts';

/** What could not be read is data; the error is its text. */
export type Read<T> = Result<T, string>;

/** When the extension in charge last said that it is alive. */
export type HeartbeatView =
  /** Milliseconds since the epoch; undefined: never, or nobody is known to be in charge. */
  | { readonly kind: 'lease'; readonly renewedAt: number | undefined }
  /** There is no garden to ask who is in charge: a condition is as fresh as it says itself. */
  | { readonly kind: 'own' }
  /** It could not be found out. */
  | { readonly kind: 'unknown' };

export interface HeardReport extends ExtensionReport {
  readonly heartbeat: HeartbeatView;
}

export interface ExtensionView {
  readonly kind: CareExtensionKind;
  readonly reports: Read<readonly HeardReport[]>;
}

/** A control plane as the seed shows it. Objects are in the order of their names. */
export interface SeedView {
  readonly deployments: Read<readonly CareDeployment[]>;
  readonly etcds: Read<readonly EtcdHealth[]>;
  readonly managedResources: Read<readonly ManagedResourceHealth[]>;
  readonly machineDeployments: Read<readonly MachineDeploymentHealth[]>;
  readonly machines: Read<readonly MachineProgress[]>;
  /** Those that the shoot has, in the order in which they are heard. */
  readonly extensions: readonly ExtensionView[];
}

export type HealthzView =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly responseMs: number }
  | { readonly kind: 'failed'; readonly error: string; readonly responseMs: number };

export type TunnelView =
  | { readonly kind: 'not-deployed' }
  | { readonly kind: 'broken'; readonly error: string }
  | { readonly kind: 'connected' };

/** A shoot as its own API server shows it. */
export type ShootView =
  /** Hibernated shoots are not looked at. */
  | { readonly kind: 'asleep' }
  /** There is no API server that is meant to run. */
  | { readonly kind: 'not-running' }
  | { readonly kind: 'no-client'; readonly error: string }
  | {
      readonly kind: 'looked';
      readonly healthz: HealthzView;
      readonly nodes: Read<readonly WorkerNode[]>;
      readonly leases: Read<readonly NodeLease[]>;
      readonly tunnel: Read<TunnelView>;
    };

/** What the checks of one run are made from. */
export interface Circumstances {
  readonly seed: SeedView;
  readonly view: ShootView;
  readonly shoot: CareShoot;
  readonly settings: CareSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export const hasWorkers = ({ pools }: CareShoot): boolean => pools.length > 0;
