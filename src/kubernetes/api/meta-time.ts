/**
 * Formats `ms` since the epoch as a `metav1.Time` in JSON (k8s.io/apimachinery `pkg/apis/meta/v1/time.go`): RFC 3339 in UTC, cut off to whole seconds.
 * Throws a RangeError if it is no time.
 */
export const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`;
