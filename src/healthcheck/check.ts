import type { Condition } from '../gardener/condition.ts';
import type { LastOperation } from '../gardener/shoot-status.ts';
import type { JsonObject, ObjectMeta } from '../kubernetes/api/decode.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';

/** What an extension object serves: a shoot (the default), the seed or the garden (gardener's `extensions/v1alpha1`, DefaultSpec). */
export type ExtensionClass = 'garden' | 'seed' | 'shoot';

/** An extension object (`extensions.gardener.cloud/v1alpha1`) as it was read. */
export interface ExtensionObject {
  readonly meta: ObjectMeta;
  /**
   * Namespace of the shoot's control plane: the object's own, or for a BackupEntry, which has none, the one that its name begins with. For other
   * classes than `shoot` the namespace of the object.
   */
  readonly controlPlane: string;
  /** `spec.type`. */
  readonly type: string;
  /** `spec.class`, `shoot` if absent: an `ExtensionClass`, or one that a later version of gardener adds. */
  readonly class: string;
  readonly lastOperation?: LastOperation;
  readonly conditions: readonly Condition[];
  /** The whole object, for all other fields. */
  readonly object: JsonObject;
}

/** Input of a check. */
export interface CheckContext {
  readonly extension: ExtensionObject;
  /** The Cluster of the control-plane namespace, with the Shoot in its `spec.shoot`. Absent for classes other than `shoot`. */
  readonly cluster?: JsonObject;
  readonly seed: KubeClient;
  /** Connects to the shoot at its first call; all checks of all runs share the connection. Rejects for other classes than `shoot`. */
  readonly shoot: () => Promise<KubeClient>;
  /** Aborts when the check's time is over. Pass it to every call. */
  readonly signal: AbortSignal;
}

/** A problem in words, and its error codes. A dot is added if none ends the text. */
interface Problem {
  readonly detail: string;
  readonly codes?: readonly string[];
}

export type CheckResult =
  | { readonly status: 'True' }
  | ({ readonly status: 'False' } & Problem)
  | ({
      readonly status: 'Progressing';
      /** Milliseconds after which this counts as False. Absent: it counts as False at once. */
      readonly progressingThresholdMs?: number;
    } & Problem);

/** Rejects when the check could not be carried out, which is not the same as unsuccessful. */
export type Check = (context: CheckContext) => Promise<CheckResult>;

export interface HealthCheck {
  /** Such as `ControlPlaneHealthy`. Checks of the same type make one condition. */
  readonly conditionType: string;
  /** False if the check does not apply to this object, which counts as success. */
  readonly preCheck?: (context: CheckContext) => boolean | Promise<boolean>;
  readonly check: Check;
  /** Error codes that follow from the detail of an unsuccessful or progressing check. */
  readonly errorCodeCheck?: (detail: string) => readonly string[];
}

/** The result of a check, or why there is none. */
export type CheckOutcome = CheckResult | { readonly status: 'Failed'; readonly detail: string };
