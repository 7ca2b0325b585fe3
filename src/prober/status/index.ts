export { pauseInWords } from './next-step.ts';
export {
  type HeldInShoot,
  type HeldUnprobed,
  type LeaseEvidence,
  type PauseInForce,
  type ProbedShoot,
  type ProberStatus,
  type ProtectionState,
  type RecordedDecision,
  type ScalingProgress,
  protectionStates,
  heldUnprobedSchema,
  shootSchema,
  statusHeaderSchema,
  statusSchema,
} from './schema.ts';
