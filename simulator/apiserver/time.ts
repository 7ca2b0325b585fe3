/** `metav1.Time`: RFC 3339 with whole seconds. `ms` are milliseconds since the epoch. */
export const formatTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** `metav1.MicroTime`, as Leases use it: RFC 3339 with microseconds. */
export const formatMicroTime = (ms: number): string => new Date(ms).toISOString().replace(/Z$/, '000Z');

/** The value of an HTTP `Date` header. */
export const formatHttpDate = (ms: number): string => new Date(ms).toUTCString();
