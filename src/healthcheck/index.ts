export type {
  Check,
  CheckContext,
  CheckOutcome,
  CheckResult,
  ExtensionClass,
  ExtensionObject,
  HealthCheck,
  HealthCheckController,
} from './check.ts';
export {
  type WorkloadTarget,
  daemonSetCheck,
  deploymentCheck,
  managedResourceCheck,
  statefulSetCheck,
} from './object-checks.ts';
export { type ExtensionOptions, runExtension } from './run-extension.ts';
export { type WorkerNodesOptions, workerNodesCheck } from './worker-nodes.ts';
// Parts for checks of your own: conditions, errors, and the rules that decide if an object is healthy.
export type { Call, CallResult } from '../kubernetes/api/call.ts';
export { ApiError, type ApiErrorCode, KubeconfigError } from '../kubernetes/api/errors.ts';
export {
  type Condition,
  type ConditionChange,
  type ConditionStatus,
  findCondition,
  newCondition,
  updateCondition,
} from '../gardener/condition.ts';
export {
  type MachineCounts,
  type ScalingProblem,
  countMachines,
  scaleDownProblem,
  scaleUpProblem,
} from '../gardener/machine-scaling.ts';
export type { ObjectHealth } from '../gardener/health.ts';
export {
  decodeDaemonSetHealth,
  decodeDeploymentHealth,
  decodeStatefulSetHealth,
  getDaemonSetHealth,
  getDeploymentHealth,
  getStatefulSetHealth,
} from '../gardener/workloads.ts';
export { DecodeError, type JsonObject, type ObjectMeta } from '../kubernetes/api/decode.ts';
export {
  type FailedMachine,
  type MachineDeploymentHealth,
  decodeMachineDeploymentHealth,
  listMachineDeploymentHealth,
} from '../gardener/machine-deployment.ts';
export { type Machine, decodeMachine, listMachines } from '../gardener/machine.ts';
export {
  type ManagedResourceHealth,
  decodeManagedResourceHealth,
  getManagedResourceHealth,
} from '../gardener/managed-resource.ts';
export { type NodeHealth, decodeNodeHealth, listNodeHealth } from '../gardener/node.ts';
export { type ErrorCode, type KnownErrorCodes, determineErrorCodes, errorCodes } from '../gardener/error-codes.ts';
export type { ExtensionKind } from '../gardener/extensions.ts';
export type { LastOperation } from '../gardener/shoot-status.ts';
export { type ListCall, listCall } from '../kubernetes/api/list-call.ts';
export type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
export type { LogFields, Logger } from '../ports/logger.ts';
export { type JsonLogLevel, type JsonLoggerOptions, createJsonLogger } from './json-logger.ts';
export type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
