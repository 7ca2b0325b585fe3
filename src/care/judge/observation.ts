import type { CareShoot } from '../../gardener/care-shoots.ts';
import type { CareExtensionKind, ExtensionReport } from '../../gardener/extensions.ts';
import type { ObjectHealth } from '../../gardener/health.ts';
import type { ControlPlaneDeployment } from '../../gardener/workloads.ts';
import type { MachineDeploymentHealth } from '../../gardener/machine-deployment.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { ManagedResourceHealth } from '../../gardener/managed-resource.ts';
import type { NodeHealth } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import type { CareSettings } from '../config.ts';

/** The result of a read. A failed read is data: its error is a text. `isPending`: nothing has failed, but there is no answer yet. */
export type Read<T> = Result<T, string> & { readonly isPending?: boolean };

/** The last heartbeat of the extension that is responsible for an object. */
export type ExtensionHeartbeat =
  /** `renewedAt` is in milliseconds since the epoch. */
  | { readonly kind: 'lease'; readonly renewedAt: number }
  /** There is no heartbeat, or no responsible extension. `missing` says what was not found. */
  | { readonly kind: 'none'; readonly missing: string }
  /** Without a garden, the extension is unknown: the condition's own `lastUpdateTime` counts. */
  | { readonly kind: 'own' }
  /** The heartbeats, or the objects that name the extension, are not known as they are now. */
  | { readonly kind: 'unknown' };

export interface ExtensionObservation extends ExtensionReport {
  readonly kind: CareExtensionKind;
  readonly heartbeat: ExtensionHeartbeat;
}

/** A control plane as observed in the seed. Objects are in the order of their names. */
export interface SeedObservation {
  readonly deployments: Read<readonly ControlPlaneDeployment[]>;
  readonly etcds: Read<readonly ObjectHealth[]>;
  readonly managedResources: Read<readonly ManagedResourceHealth[]>;
  readonly machineDeployments: Read<readonly MachineDeploymentHealth[]>;
  readonly machines: Read<readonly Machine[]>;
  /** Objects of extensions, in the order of `careExtensionKinds`. A kind that cannot be listed is one error. */
  readonly extensions: readonly Read<ExtensionObservation>[];
}

export interface HealthzObservation {
  /** Status of the response; absent if there was none. */
  readonly status?: number;
  /** The body, or the error of a failed request. */
  readonly text: string;
  readonly responseMs: number;
}

export type TunnelObservation =
  | { readonly kind: 'not-deployed' }
  | { readonly kind: 'broken'; readonly error: string }
  | { readonly kind: 'connected' };

/** A shoot as observed through its own API server. */
export type ShootObservation =
  /** The Deployment of the API server is missing, being deleted, or at 0 replicas, or the shoot is hibernated. */
  | { readonly kind: 'not-running' }
  | { readonly kind: 'no-client'; readonly error: string }
  | {
      readonly kind: 'observed';
      readonly healthz: HealthzObservation;
      readonly nodes: Read<readonly NodeHealth[]>;
      readonly leases: Read<readonly Lease[]>;
      readonly tunnel: Read<TunnelObservation>;
    };

/** Everything that a check may use. */
export interface CheckInput {
  readonly seed: SeedObservation;
  readonly view: ShootObservation;
  readonly shoot: CareShoot;
  readonly settings: CareSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export const hasWorkers = ({ pools }: CareShoot): boolean => pools.length > 0;
