import type { SimKind, StatusCause } from './kind.ts';

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** `metav1.Status`, as the API server returns it. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface FailureInit {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
}

/** Error for a request that the simulated server refuses; it leaves the server only as a response. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(init: FailureInit) {
    super(init.message);
    this.status = failure(init);
  }
}

export const failure = (init: FailureInit): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: init.message,
  ...(init.reason === undefined ? {} : { reason: init.reason }),
  ...(init.details === undefined ? {} : { details: init.details }),
  code: init.code,
});

/** `deployments.apps`, or `pods` alone for the core group. */
const resourceName = (kind: SimKind): string => (kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`);

const kindName = (kind: SimKind): string => (kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`);

const details = (kind: SimKind, name: string, of: 'resource' | 'kind'): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(kind.group === '' ? {} : { group: kind.group }),
  kind: of === 'resource' ? kind.resource : kind.kind,
});

// The functions below mirror k8s.io/apimachinery/pkg/api/errors; the contract suite compares them with a real server's responses.

export const badRequest = (message: string): StatusError =>
  new StatusError({ code: 400, reason: 'BadRequest', message });

export const notFound = (kind: SimKind, name: string): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${resourceName(kind)} "${name}" not found`,
    details: details(kind, name, 'resource'),
  });

export const unknownResource = (): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

export const methodNotAllowed = (): StatusError =>
  new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });

export const alreadyExists = (kind: SimKind, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${resourceName(kind)} "${name}" already exists`,
    details: details(kind, name, 'resource'),
  });

export const conflict = (kind: SimKind, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${resourceName(kind)} "${name}": ${staleObject}`,
    details: details(kind, name, 'resource'),
  });

const staleObject = 'the object has been modified; please apply your changes to the latest version and try again';

/** Conflict of a delete whose preconditions fail. It names the kind, where other conflicts name the resource. */
export const deleteConflict = (kind: SimKind, name: string, problem: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${kindName(kind)} "${name}": ${problem}`,
    details: details(kind, name, 'kind'),
  });

/** The current state is older than a list asks for. */
export const tooLargeVersion = (asked: number, current: number): StatusError =>
  new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });

export const expired = (message: string): StatusError => new StatusError({ code: 410, reason: 'Expired', message });
