import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { WaitQueue, runInScope } from '../transport/index.ts';

const waitBuckets = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30];

export interface RateLimiterOptions {
  /** Sustained requests per second (`--kube-api-qps`; Infinity for no limit), and requests at once after a pause (`--kube-api-burst`). */
  readonly qps: number;
  readonly burst: number;
  /** Maximum number of urgent requests in flight. */
  readonly urgentInFlight: number;
  readonly clock: Clock;
  readonly meter: Meter;
  /** Cluster of the API server, for the names of the metrics. Default `seed`. */
  readonly cluster?: 'seed' | 'garden';
}

/** Limits requests to one API server; shared by all clients of it. */
export interface RateLimiter {
  /**
   * Resolves when the request may be sent, with a function to call once, when it is answered or has failed. Rejects with an ApiError (`Timeout`,
   * `rateLimited`) if its timeout comes first, for an ordinary request as soon as that is known, and with the signal's reason on abort.
   */
  admit(request: KubeRequest): Promise<() => void>;
}

type Admit = RateLimiter['admit'];

const timedOut = ({ method, path }: KubeRequest, problem: string): ApiError =>
  new ApiError({ code: 'Timeout', message: `${method} ${path}: not sent: rate limit: ${problem}`, rateLimited: true });

const inSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/**
 * A token bucket that starts full. Its state is one instant (the generic cell rate algorithm): when it will be full again. A token is available while that is
 * at most `burst - 1` tokens away.
 */
const admitOrdinary = ({ qps, burst, clock }: RateLimiterOptions, onDepth: (depth: number) => void): Admit => {
  const intervalMs = 1_000 / qps;
  const line = new WaitQueue(onDepth);
  let fullAt = Number.NEGATIVE_INFINITY;
  let disarm: (() => void) | undefined;
  const nextTokenAt = (): number => fullAt - (burst - 1) * intervalMs;
  const spend = (): void => {
    fullAt = Math.max(fullAt, clock.monotonic()) + intervalMs;
  };
  /** Keeps one timer, for the first waiting request. */
  const arm = (): void => {
    if (disarm !== undefined || line.length === 0) return;
    disarm = clock.timer(nextTokenAt() - clock.monotonic(), () => {
      disarm = undefined;
      spend();
      line.wakeOne();
      arm();
    });
  };
  const wait = async (signal: AbortSignal): Promise<void> => {
    const turn = line.join(signal);
    arm();
    try {
      await turn;
    } finally {
      if (line.length === 0) {
        disarm?.();
        disarm = undefined;
      }
    }
  };
  return async (request) => {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = request;
    signal.throwIfAborted();
    // If none before it gives up.
    const waitMs = Math.max(0, nextTokenAt() - clock.monotonic() + line.length * intervalMs);
    if (waitMs > 0 && waitMs >= timeoutMs) {
      throw timedOut(request, `would wait ${inSeconds(waitMs)}, longer than the deadline of ${inSeconds(timeoutMs)}`);
    }
    if (waitMs === 0) spend();
    else await wait(signal);
    return () => undefined;
  };
};

const admitUrgent = (options: RateLimiterOptions, onDepth: (depth: number) => void): Admit => {
  const { clock, urgentInFlight: most } = options;
  const tellDepth = (): void => onDepth(writes.length + reads.length);
  // Writes go first: a read is the first step of an operation, and a write its last.
  const [writes, reads] = [new WaitQueue(tellDepth), new WaitQueue(tellDepth)];
  let inFlight = 0;
  const leave = (): void => {
    const line = writes.length > 0 ? writes : reads;
    // The request that is called up takes over the place, so that no other can get in between.
    if (line.length > 0) line.wakeOne();
    else inFlight -= 1;
  };
  return async (request) => {
    const { signal, timeoutMs } = request;
    signal.throwIfAborted();
    if (inFlight < most) {
      inFlight += 1;
      return leave;
    }
    const onTimeout = (): ApiError => timedOut(request, `${most} urgent requests in flight for ${timeoutMs ?? 0} ms`);
    const line = request.method === 'GET' ? reads : writes;
    await runInScope({ signal, clock, timeoutMs, onTimeout }, (until) => line.join(until));
    return leave;
  };
};

/**
 * Creates a rate limiter: a token bucket for ordinary requests, and a limit of requests in flight for urgent ones, because in a mass outage
 * hundreds of writes cannot wait for five a second. Throws a RangeError for settings that would let no request through.
 */
export const createRateLimiter = (options: RateLimiterOptions): RateLimiter => {
  const { clock, meter, cluster = 'seed' } = options;
  const name = `dwd_${cluster === 'seed' ? 'kube' : cluster}_rate_limit`;
  const wait = meter.histogram({
    name: `${name}_wait_seconds`,
    help: `Time that requests to the ${cluster} waited for the rate limit.`,
    labels: ['lane'],
    buckets: waitBuckets,
  });
  const depth = meter.gauge({
    name: `${name}_waiting`,
    help: `Requests to the ${cluster} that are waiting for the rate limit.`,
    labels: ['lane'],
  });
  const admit = {
    ordinary: admitOrdinary(options, (length) => depth.set(length, { lane: 'ordinary' })),
    urgent: admitUrgent(options, (length) => depth.set(length, { lane: 'urgent' })),
  };
  return {
    admit: async (request) => {
      const { priority = 'ordinary' } = request;
      const startedAt = clock.monotonic();
      const leave = await admit[priority](request);
      wait.observe((clock.monotonic() - startedAt) / 1_000, { lane: priority });
      return leave;
    },
  };
};

/**
 * Makes every request wait for the limiter, by its priority. Belongs inside the retry policies, so that retries count too. The wait is part of the
 * request's timeout. A request is in flight until the head of its response.
 */
export const withRateLimit = (kube: Kube, limiter: RateLimiter, clock: Clock): Kube => ({
  request: async (request) => {
    const { timeoutMs } = request;
    const startedAt = clock.monotonic();
    const leave = await limiter.admit(request);
    try {
      const rest = timeoutMs === undefined ? {} : { timeoutMs: startedAt + timeoutMs - clock.monotonic() };
      return await kube.request({ ...request, ...rest });
    } finally {
      leave();
    }
  },
});
