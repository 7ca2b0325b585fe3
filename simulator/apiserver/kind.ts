import type { JsonMap } from './object.ts';

/** Paths of the fields in an object that its scale subresource shows. */
export interface ScalePaths {
  readonly replicas: readonly string[];
  readonly statusReplicas: readonly string[];
}

/** One problem of an object or a request, as in the details of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

/** A served kind as data. A new kind needs only an entry in `simKinds`. */
export interface SimKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural name, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** True if served from a CustomResourceDefinition. */
  readonly custom: boolean;
  /** True if the kind has a status subresource: writes to the object leave its status alone, and the other way round. */
  readonly status: boolean;
  readonly scale?: ScalePaths;
  /** True if the server counts `metadata.generation`. */
  readonly generation: boolean;
  /** Metadata whose changes increase the generation, as changes of the object's own fields do. */
  readonly countedMetadata: readonly 'annotations'[];
  /** Integer fields that the real server leaves out of `status` when 0 (Go's omitempty). */
  readonly omitZero: readonly string[];
  /** Field of the spec whose changes the server stamps in `managedFields`. The real server stamps all; the simulated one only what somebody reads. */
  readonly stampedField?: string;
  /** True if deletion waits for a grace period. */
  readonly graceful: boolean;
  /** Fills in the fields that the real server would fill in. */
  readonly defaults?: (object: JsonMap) => JsonMap;
  /** Returns the error of the real server's decoder, which knows the types of built-in fields; undefined if the body is valid. */
  readonly decodeProblem?: (object: Readonly<JsonMap>) => string | undefined;
}

/** `apps/v1`, or `v1` for the core group. */
export const apiVersionOf = (kind: SimKind): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
