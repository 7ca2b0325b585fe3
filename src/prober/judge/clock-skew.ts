/** The parts of a response that show the server's wall clock. */
export interface DatedExchange {
  /** The `Date` header in milliseconds since the epoch, truncated to seconds. */
  readonly date: number | undefined;
  /** Our wall clock when the response had arrived. */
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}

/** A smaller difference between two clocks, in milliseconds, is not significant. */
const clockToleranceMs = 2_000;

/** Longest round trip, in milliseconds, whose header is precise enough: the server may have written it at any time during the exchange. */
const longestMeasuredMs = 2_000;

const skewOf = ({ date, wallAtEnd, roundTripMs }: DatedExchange): number | undefined =>
  date === undefined ? undefined : date + 500 - (wallAtEnd - roundTripMs / 2);

/**
 * Difference between an API server's wall clock and ours in milliseconds, for judging leases. Undefined if it is within 2 s plus half of the round trip,
 * the error of measurement.
 */
export const significantSkew = (exchange: DatedExchange): number | undefined => {
  const skew = skewOf(exchange);
  return skew === undefined || Math.abs(skew) <= clockToleranceMs + exchange.roundTripMs / 2 ? undefined : skew;
};

/**
 * The same difference for people, accurate to 1.5 s. Undefined if the exchange took too long to measure it. (A response that etcd had delayed by 14 s was
 * once reported as a clock difference.)
 */
export const measureSkew = (exchange: DatedExchange): number | undefined =>
  exchange.roundTripMs > longestMeasuredMs ? undefined : skewOf(exchange);
