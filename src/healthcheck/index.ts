export { aggregateOutcomes, type AggregateContext } from './aggregate.ts';
export { connect, type ConnectOptions, type SeedConnection } from './connect.ts';
export type { Check, CheckContext, CheckOutcome, CheckResult, ExtensionObject, HealthCheck } from './check.ts';
export { type HealthCheckControllerOptions, runHealthChecks } from './controller.ts';
export type { ExtensionKind } from './extension.ts';
export { createJsonLogger, type JsonLoggerOptions, type JsonLogLevel } from './json-logger.ts';
export {
  daemonSetCheck,
  deploymentCheck,
  managedResourceCheck,
  statefulSetCheck,
  type WorkloadTarget,
} from './object-checks.ts';
export { workerNodesCheck, type WorkerNodesOptions } from './worker-nodes.ts';
// What a controller needs besides: the condition model, errors, and what counts as healthy, for checks of its own.
export {
  type Answer,
  ApiError,
  type ApiErrorCode,
  type Call,
  type Condition,
  type ConditionChange,
  type ConditionStatus,
  daemonSetProblem,
  type DaemonSetHealth,
  decodeDaemonSetHealth,
  decodeDeploymentHealth,
  decodeManagedResourceHealth,
  decodeNodeHealth,
  decodeStatefulSetHealth,
  deploymentProblem,
  type DeploymentHealth,
  determineErrorCodes,
  type ErrorCode,
  errorCodes,
  findCondition,
  type JsonObject,
  goQuote,
  KubeconfigError,
  type KnownErrorCodes,
  managedResourceProblem,
  type ManagedResourceHealth,
  newCondition,
  nodeProblem,
  type NodeHealth,
  statefulSetProblem,
  type StatefulSetHealth,
  updateCondition,
} from '../domain/index.ts';
export type { CallOptions, Clock, KubeClient, LogFields, Logger, ShootConnection } from '../ports/index.ts';
export { systemClock } from '../runtime/index.ts';
