import type { JsonMap } from './object.ts';

/** Where a kind keeps what its scale subresource shows. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
}

/** One problem of an object or a request, in a Status's details. */
export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

/** A served kind as data: one line in `simKinds` is all that a new one takes. */
export interface SimKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Served from a CustomResourceDefinition: bodies must name their type, unconditional updates refused. */
  readonly custom: boolean;
  /** Has a status subresource, so that writes to the object leave its status alone and the other way round. */
  readonly status: boolean;
  readonly scale?: ScalePaths;
  /** Counts `metadata.generation`. */
  readonly generation: boolean;
  /** Metadata whose changes count as generations, besides the object's own fields. */
  readonly countedMetadata: readonly ('annotations' | 'labels')[];
  /** A created object keeps the status it came with (Nodes: kubelets register with one). */
  readonly statusOnCreate: boolean;
  /** A write to the status may change labels too. */
  readonly labelsWithStatus: boolean;
  /** PUT without a resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** PUT creates what is not there. */
  readonly createOnUpdate: boolean;
  /** Integers the real server leaves out of `status` when 0 (Go's omitempty). */
  readonly omitZero: readonly string[];
  /** Deletion waits for a grace period. */
  readonly graceful: boolean;
  /** Fills in what the real server would. */
  readonly defaults?: (object: JsonMap) => JsonMap;
  /** What the real server's decoder, which knows the types of built-in fields, says of a body; undefined when all is well. */
  readonly decodeProblem?: (object: Readonly<JsonMap>) => string | undefined;
  /** Problems of a new or changed object. */
  readonly validate?: (object: Readonly<JsonMap>) => readonly StatusCause[];
}

/** `apps/v1`, or `v1` for the core group. */
export const apiVersionOf = (kind: SimKind): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
