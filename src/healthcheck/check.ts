import type { ExtensionKind, ExtensionReport } from '../gardener/extensions.ts';
import type { LastOperation } from '../gardener/shoot-status.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';

/** The kind of cluster that an extension object serves: a shoot (the default), the seed or the garden (gardener's `extensions/v1alpha1`, DefaultSpec). */
export type ExtensionClass = 'garden' | 'seed' | 'shoot';

/** An extension object (`extensions.gardener.cloud/v1alpha1`) as it was read. */
export interface ExtensionObject extends ExtensionReport {
  /**
   * Namespace of the shoot's control plane: the object's own namespace or, for a BackupEntry, which has none, the one with which its name begins. For classes
   * other than `shoot` it is the namespace of the object.
   */
  readonly controlPlane: string;
  /** `spec.class`, `shoot` if absent: an `ExtensionClass`, or a class that a later version of gardener adds. */
  readonly class: string;
  readonly lastOperation?: LastOperation;
  /** The whole object, for fields that are not listed here. */
  readonly object: JsonObject;
}

/** Input of a check. */
export interface CheckContext {
  readonly extension: ExtensionObject;
  /** The Cluster of the control-plane namespace, with the Shoot in its `spec.shoot`. Absent for classes other than `shoot`. */
  readonly cluster?: JsonObject;
  /** Client of the seed. Its calls, and those to the shoot, have the timeout of all checks unless they set one. */
  readonly seed: KubeClient;
  /** Connects to the shoot at the first call of a run; all its checks share the connection. Rejects for classes other than `shoot`. */
  readonly shoot: () => Promise<KubeClient>;
  /** Aborts when the time for the checks is over. Pass it to every call. */
  readonly signal: AbortSignal;
}

/** Text of a problem, to which a final dot is added if it has none, and its error codes. */
interface Problem {
  readonly detail: string;
  readonly codes?: readonly string[];
}

/** Result of a check: the object is healthy (`True`), unhealthy (`False`), or not yet healthy (`Progressing`). */
export type CheckResult =
  | { readonly status: 'True' }
  | ({ readonly status: 'False' } & Problem)
  | ({
      readonly status: 'Progressing';
      /** Time after which the result counts as False, in milliseconds since the last transition. If absent, it counts as False at once. */
      readonly progressingThresholdMs?: number;
    } & Problem);

/** Checks an object. Rejects if the check cannot be carried out: the condition then becomes Unknown, and not False. */
export type Check = (context: CheckContext) => Promise<CheckResult>;

/** A check of an extension object, and the condition to which it contributes. */
export interface HealthCheck {
  /**
   * Type of the condition, such as `ControlPlaneHealthy`. All checks of the same type contribute to one condition. Not `APIServerAvailable`, which gardener takes
   * from no extension.
   */
  readonly conditionType: string;
  /** Returns false if the check does not apply to this object. It is then skipped and counts as True. */
  readonly preCheck?: (context: CheckContext) => boolean | Promise<boolean>;
  readonly check: Check;
  /** Returns additional error codes for the detail of a result that is False or Progressing. */
  readonly errorCodeCheck?: (detail: string) => readonly string[];
}

/** The result of a check, or the reason why it could not be carried out (`Failed`). */
export type CheckOutcome = CheckResult | { readonly status: 'Failed'; readonly detail: string };

/** A controller: the objects that it checks, and their checks. */
export interface HealthCheckController {
  readonly kind: ExtensionKind;
  /** `spec.type` of the objects, compared exactly. */
  readonly type: string;
  /** Classes of the objects. Default: only `shoot`. */
  readonly classes?: readonly ExtensionClass[];
  /** Functions of the object. If one of them returns false, the object is not checked. */
  readonly predicates?: readonly ((extension: ExtensionObject) => boolean)[];
  /** Checks of each object; at least one. */
  readonly checks: readonly HealthCheck[];
  /** Condition types of an earlier version of the extension, which are removed. No check may have one of them. */
  readonly conditionTypesToRemove?: readonly string[];
  /** Interval between two runs for an object, in milliseconds. It is also the timeout of the checks, and half the timeout of a run. Default 30 s. */
  readonly syncPeriodMs?: number;
  /** Maximum number of objects that are checked concurrently, at least 1. Default 5. */
  readonly concurrency?: number;
}
