/** The parts of a response that show the server's wall clock. */
export interface DatedExchange {
  /** The `Date` header in milliseconds since the epoch, truncated to seconds. */
  readonly date: number | undefined;
  /** Our wall clock when the response had arrived. */
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}

/** Longest round trip, in milliseconds, whose header is precise enough: the server may have written it at any time during the exchange. */
const longestMeasuredMs = 2_000;

/**
 * Difference between an API server's wall clock and ours in milliseconds, for people, accurate to 1.5 s. Undefined if the exchange took too long to measure
 * it. (A response that etcd had delayed by 14 s was once reported as a clock difference.)
 */
export const measureSkew = ({ date, wallAtEnd, roundTripMs }: DatedExchange): number | undefined =>
  date === undefined || roundTripMs > longestMeasuredMs ? undefined : date + 500 - (wallAtEnd - roundTripMs / 2);
