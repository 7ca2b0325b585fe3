/** An answer, as far as it shows the server's wall clock. */
export interface DatedExchange {
  /** Its `Date` header in milliseconds since the epoch: resolution 1 s, cut off. */
  readonly date: number | undefined;
  /** Our wall clock when the answer was in. */
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}

/** A smaller difference between two clocks says nothing, in milliseconds. */
const clockToleranceMs = 2_000;

/** The header may have been written at any time of the exchange: what took longer says too little. */
const longestMeasuredMs = 2_000;

const skewOf = ({ date, wallAtEnd, roundTripMs }: DatedExchange): number | undefined =>
  date === undefined ? undefined : date + 500 - (wallAtEnd - roundTripMs / 2);

/**
 * Difference between an API server's wall clock and ours in milliseconds, for judging leases: undefined while it is within 2 s + half the round trip,
 * where it says nothing.
 */
export const significantSkew = (exchange: DatedExchange): number | undefined => {
  const skew = skewOf(exchange);
  return skew === undefined || Math.abs(skew) <= clockToleranceMs + exchange.roundTripMs / 2 ? undefined : skew;
};

/**
 * The same difference for people, within 1.5 s; undefined where the exchange took too long to tell. (An answer that etcd had held up for 14 s was once told as
 * clocks that differ.)
 */
export const measureSkew = (exchange: DatedExchange): number | undefined =>
  exchange.roundTripMs > longestMeasuredMs ? undefined : skewOf(exchange);
