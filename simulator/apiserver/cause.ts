/** One problem of an object or a request, in a Status's details. */
export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}
