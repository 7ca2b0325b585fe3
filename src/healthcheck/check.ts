import type { Condition, JsonObject, LastOperation, ObjectMeta } from '../domain/index.ts';
import type { KubeClient } from '../ports/index.ts';

/**
 * What an extension object is for: a shoot, which most are, the seed or the garden (gardener's `extensions/v1alpha1`, DefaultSpec). Objects that
 * do not say so are for a shoot.
 */
export type ExtensionClass = 'garden' | 'seed' | 'shoot';

/** An extension object (`extensions.gardener.cloud/v1alpha1`) as it was read. */
export interface ExtensionObject {
  readonly meta: ObjectMeta;
  /**
   * Namespace of the shoot's control plane: its own, or for a BackupEntry, which has none, the one that its name begins with. For classes other
   * than `shoot` the namespace of the object.
   */
  readonly controlPlane: string;
  /** `spec.type`. */
  readonly type: string;
  /** `spec.class`: `shoot` where the object does not say, else an `ExtensionClass`, or what a later version of gardener may add. */
  readonly class: string;
  readonly lastOperation?: LastOperation;
  readonly conditions: readonly Condition[];
  /** The whole object, for what is not listed above. */
  readonly object: JsonObject;
}

/** What a check is given. */
export interface CheckContext {
  readonly extension: ExtensionObject;
  /** The Cluster of the control-plane namespace, with the Shoot in its `spec.shoot`. Absent for classes other than `shoot`. */
  readonly cluster?: JsonObject;
  readonly seed: KubeClient;
  /** Connects to the shoot when it is first called; all checks of all runs share the connection. Rejects for classes other than `shoot`. */
  readonly shoot: () => Promise<KubeClient>;
  /** Aborts when the check's time is up. Calls must be given it. */
  readonly signal: AbortSignal;
}

/** What is wrong, for people, and error codes where they are known. A dot is added where none ends the text. */
interface Finding {
  readonly detail: string;
  readonly codes?: readonly string[];
}

export type CheckResult =
  | { readonly status: 'True' }
  | ({ readonly status: 'False' } & Finding)
  | ({
      readonly status: 'Progressing';
      /** How long this may go on, in milliseconds, before it counts as False. Absent: it counts as False at once. */
      readonly progressingThresholdMs?: number;
    } & Finding);

/** Rejects when the check could not be carried out, which is not the same as unsuccessful. */
export type Check = (context: CheckContext) => Promise<CheckResult>;

export interface HealthCheck {
  /** Such as `ControlPlaneHealthy`. Checks of the same type make one condition. */
  readonly conditionType: string;
  /** Whether the check is for this object at all; if not, that counts as success. */
  readonly preCheck?: (context: CheckContext) => boolean | Promise<boolean>;
  readonly check: Check;
  /** Error codes that the detail of an unsuccessful or progressing check tells of. */
  readonly errorCodeCheck?: (detail: string) => readonly string[];
}

/** The result of a check, or why there is none. */
export type CheckOutcome = CheckResult | { readonly status: 'Failed'; readonly detail: string };
