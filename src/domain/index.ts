export { adviceOn, raceAgainstGrace } from './advice.ts';
export * from './access.ts';
export * from './api-server.ts';
export * from './calls.ts';
export * from './byte-sink.ts';
export * from './decode.ts';
export * from './distinct.ts';
export * from './duration.ts';
export * from './errors.ts';
export * from './escape-controls.ts';
export * from './resource-ref.ts';
export * from './prober-settings.ts';
export * from './weeder-settings.ts';
export * from './care-settings.ts';
export * from './process-settings.ts';
export * from './label-selectors.ts';
export * from './leases.ts';
export * from './list-call.ts';
export * from './nodes.ts';
export * from './probe-calls.ts';
export * from './scaling.ts';
export * from './shoots.ts';
export * from './shorten.ts';
export * from './trim-end.ts';
export * from './micro-time.ts';
export * from './election.ts';
export * from './election-calls.ts';
export {
  fieldOf,
  type ProtobufCursor,
  ProtobufError,
  readLength,
  readMessage,
  readString,
} from './protobuf.ts';
export { protobufMediaType, readProtobufStatus } from './kube-protobuf.ts';
export * from './probe-protobuf.ts';
export { createProtobufListReader } from './protobuf-list.ts';
export * from './endpoint-slices.ts';
export * from './pods.ts';
export * from './condition-merge.ts';
export * from './condition-thresholds.ts';
export * from './condition-writers.ts';
export * from './conditions.ts';
export * from './error-codes.ts';
export * from './go-quote.ts';
export * from './health-calls.ts';
export type { HealthView } from './health-objects.ts';
export * from './health-etcds.ts';
export * from './health-managed-resources.ts';
export * from './health-nodes.ts';
export * from './health-workloads.ts';
export * from './kubelet-version.ts';
export * from './machine-scaling.ts';
export * from './shoot-status.ts';
export * from './care-calls.ts';
export * from './care-extensions.ts';
export * from './care-reads.ts';
export * from './care-shoots.ts';
export * from './go-time.ts';
export { judgeKind, type KindJudgement } from './known-kinds.ts';
export { nearest } from './nearest.ts';
