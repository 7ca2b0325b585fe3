import type { CallResult, Call } from '../kubernetes/api/call.ts';
import { ApiError, type ApiErrorCode, type Result, isApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { measureStall } from '../kubernetes/client/index.ts';
import type { ShootConnection } from '../kubernetes/api/shoot-connection.ts';
import type { Clock } from '../ports/clock.ts';
import { type ShootClientDeps, shootClientFor } from './shoot-client.ts';
import type { ReadError } from './judge/verdict.ts';

export interface RunRequestsDeps extends ShootClientDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
}

export interface RunRequestsOptions {
  /** `namespace/name` of the Secret with the kubeconfig. */
  readonly secret: string;
  /** Key of the Secret's data, for error messages; absent: `kubeconfig`. */
  readonly secretKey?: string | undefined;
  /** Monotonic instant at which the run ends. */
  readonly deadline: number;
  /** Time of the slowest response in the latest run that got one from the shoot, in milliseconds. */
  readonly slowestResponseMs?: number | undefined;
  readonly signal: AbortSignal;
}

export type Sent<T> = Result<CallResult<T>, ReadError>;

/** An attempt that takes this much longer than recent responses, in milliseconds, shows an API server, or a path to it, that has stalled. */
const stallMs = 2_000;

/** A request that takes longer than this, in milliseconds, is repeated, unless responses are known to take long. */
const firstAttemptMs = 5_000;

const repeatedCodes: ReadonlySet<ApiErrorCode> = new Set(['ServerError', 'Timeout']);
const brokenConnection: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT']);

/** True if the same request may succeed on another connection. */
const isRepeated = ({ code, fault }: ApiError): boolean =>
  repeatedCodes.has(code) || (code === 'ConnectionError' && brokenConnection.has(fault.code ?? ''));

interface SendOptions {
  readonly timeoutMs: number;
  readonly urgent?: boolean;
}

const isTimeout = <T>(sent: Sent<T>): boolean => !sent.ok && isApiError(sent.error, 'Timeout');

/**
 * Sends the requests of one probe run. They reject only with the signal's reason. Sequential requests share a connection to the shoot, parallel ones have one
 * each; no connection is from an earlier run, because a half-open one would look like an outage. A request that fails for a reason that another connection may
 * fix is repeated once, at once, on a new one. The first attempt has 5 s, or twice the time of recent responses; the second has the rest of the run, so that
 * slow responses are not too late in every run.
 */
export class RunRequests {
  readonly #deps: RunRequestsDeps;
  readonly #request: RunRequestsOptions;
  readonly #free: ShootConnection[] = [];
  readonly #open = new Set<ShootConnection>();
  #slowest: number | undefined;
  #hasHung = false;
  #stalledUntil: number | undefined;

  constructor(deps: RunRequestsDeps, request: RunRequestsOptions) {
    this.#deps = deps;
    this.#request = request;
  }

  async shoot<T>(call: Call<T>): Promise<Sent<T>> {
    const free = this.#free.pop();
    const connection = free === undefined ? this.#connect() : ({ ok: true, value: free } as const);
    const known = Math.max(this.#request.slowestResponseMs ?? 0, this.#slowest ?? 0);
    const first = await this.#attempt(connection, call, Math.max(firstAttemptMs, 2 * known));
    return this.#mayRepeat(first) ? this.#attempt(this.#connect(), call, Number.POSITIVE_INFINITY) : first;
  }

  /** Sends a request to the seed. An urgent request waits neither behind the ordinary rate limit nor for long on a connection that hangs. */
  async seed<T>(call: Call<T>, urgent: boolean): Promise<Sent<T>> {
    const { seed } = this.#deps;
    const timeoutMs = urgent ? firstAttemptMs : Number.POSITIVE_INFINITY;
    const first = await this.#send(seed, call, { urgent, timeoutMs });
    // A request that is not urgent may wait for its turn as long as the run lasts.
    const isLate = !urgent && isTimeout(first);
    if (!this.#mayRepeat(first) || isLate) return first;
    return this.#send(seed, call, { urgent, timeoutMs: Number.POSITIVE_INFINITY });
  }

  /** Returns the time of the shoot's slowest response, for the next run. If requests only hung, it is that of the previous run. */
  slowestResponseMs(): number | undefined {
    return this.#slowest ?? (this.#hasHung ? this.#request.slowestResponseMs : undefined);
  }

  /** Monotonic instant at which the latest attempt ended that took long, or longer than recent responses. */
  stalledUntil(): number | undefined {
    return this.#stalledUntil;
  }

  /** Ends the connections to the shoot. */
  close(): void {
    for (const connection of [...this.#open]) this.#closeOne(connection);
  }

  #connect(): Result<ShootConnection, ReadError> {
    const connected = shootClientFor(this.#deps, this.#request.secret, this.#request.secretKey);
    if (connected.ok) this.#open.add(connected.value);
    return connected;
  }

  #closeOne(connection: ShootConnection): void {
    this.#open.delete(connection);
    connection.close();
  }

  async #attempt<T>(
    connection: Result<ShootConnection, ReadError>,
    call: Call<T>,
    timeoutMs: number,
  ): Promise<Sent<T>> {
    if (!connection.ok) return connection;
    const { clock } = this.#deps;
    const sentAt = clock.monotonic();
    const stall = measureStall(clock);
    const sent = await this.#send(connection.value.client, call, { timeoutMs }).finally(() => stall.end());
    this.#measure(sent, { sentAt, suspendedMs: stall.ms() });
    if (sent.ok) this.#free.push(connection.value);
    else this.#closeOne(connection.value);
    return sent;
  }

  async #send<T>(client: KubeClient, call: Call<T>, options: SendOptions): Promise<Sent<T>> {
    const { signal, deadline } = this.#request;
    // At least 1 ms: a run whose time is up ends in a Timeout like any other.
    const timeoutMs = Math.max(1, Math.min(options.timeoutMs, deadline - this.#deps.clock.monotonic()));
    const priority = options.urgent === true ? ({ priority: 'urgent' } as const) : {};
    try {
      return { ok: true, value: await client.call(call, { signal, timeoutMs, ...priority }) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) return { ok: false, error };
      throw error;
    }
  }

  /** Measures the time to a response, successful or not, without the time in which our own process was suspended: then only we stalled. */
  #measure<T>(sent: Sent<T>, { sentAt, suspendedMs }: { readonly sentAt: number; readonly suspendedMs: number }): void {
    const now = this.#deps.clock.monotonic();
    const tookMs = now - sentAt - suspendedMs;
    const usualMs = sent.ok ? (this.#request.slowestResponseMs ?? 0) : 0;
    if (tookMs >= usualMs + stallMs) this.#stalledUntil = now;
    const isAnswer = sent.ok || (sent.error instanceof ApiError && sent.error.status !== undefined);
    if (isAnswer) this.#slowest = Math.max(this.#slowest ?? 0, tookMs);
    else if (sent.error instanceof ApiError && isTimeout(sent)) {
      this.#hasHung ||= sent.error.fault.phase !== 'connecting';
    }
  }

  #mayRepeat<T>(sent: Sent<T>): boolean {
    const isInTime = this.#deps.clock.monotonic() < this.#request.deadline;
    return !sent.ok && sent.error instanceof ApiError && isRepeated(sent.error) && isInTime;
  }
}
