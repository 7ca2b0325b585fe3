import type { Call, CallResult } from '../../kubernetes/api/call.ts';
import {
  ApiError,
  type ApiErrorCode,
  type Result,
  isApiError,
  KubeconfigError,
  resultOf,
} from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import type { ShootConnection, ShootConnector } from '../../kubernetes/api/shoot-connection.ts';
import { createScope } from '../../kubernetes/transport/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ReadError } from '../judge/judgement.ts';
import type { Store } from '../../kubernetes/cache/index.ts';

export interface ShootClientDeps {
  readonly connector: ShootConnector;
  /** Kubeconfig texts by `namespace/name` of their Secret. */
  readonly kubeconfigs: Pick<Store<string | undefined>, 'get'>;
}

/** Returns a client of a shoot from the kubeconfig in a Secret, `namespace/name`. `dataKey` is only for error messages. Opens no connection. */
export const shootClientFor = (
  deps: ShootClientDeps,
  key: string,
  dataKey = 'kubeconfig',
): Result<ShootConnection, KubeconfigError> => {
  const text = deps.kubeconfigs.get(key);
  if (text === undefined) {
    return {
      ok: false,
      error: new KubeconfigError(`Secret ${key}`, `there is no such Secret, or it has no key "${dataKey}"`),
    };
  }
  try {
    return { ok: true, value: deps.connector.clientFor(text) };
  } catch (error) {
    if (error instanceof KubeconfigError) return { ok: false, error };
    throw error;
  }
};

export interface RunRequestsDeps extends ShootClientDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
}

export interface RunRequestsOptions {
  /** `namespace/name` of the Secret with the kubeconfig. */
  readonly secret: string;
  /** Key of the Secret's data, for error messages; absent: `kubeconfig`. */
  readonly secretKey?: string;
  /** Monotonic instant at which the run ends. */
  readonly deadline: number;
  /** Time-out of the whole run; one request has a third of it, or 5 s if that is more: on a busy machine none was answered within a third of 4 s. */
  readonly timeoutMs: number;
  /** Time of the slowest response in the latest run that got one from the shoot, in milliseconds. */
  readonly slowestResponseMs?: number;
  readonly signal: AbortSignal;
}

export type Sent<T> = Result<CallResult<T>, ReadError>;

/**
 * How a request to the seed waits for its turn. `urgent`: not at all. `ordinary`: as long as the run lasts. `spare`: for a second, because nothing depends on
 * it; a start of the process with 250 shoots else keeps ordinary requests, such as restorations, waiting for 50 s.
 */
export type RequestPace = 'urgent' | 'ordinary' | 'spare';

const spareMs = 1_000;

/** After this time without an answer, in milliseconds, the same request goes out on another connection, and the first answer of the two counts. */
const secondAfterMs = 5_000;

const repeatedCodes: ReadonlySet<ApiErrorCode> = new Set(['ServerError', 'Timeout']);
const brokenConnection: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT']);

/** True if the same request may succeed on another connection. */
const mayRepeat = <T>(sent: Sent<T>): boolean => {
  if (sent.ok || !(sent.error instanceof ApiError)) return false;
  const { code, fault } = sent.error;
  return repeatedCodes.has(code) || (code === 'ConnectionError' && brokenConnection.has(fault.code ?? ''));
};

/** Resolves with the first answer of two attempts: the first result that another connection would not change, else the last. */
const firstAnswer = async <T>(attempts: readonly Promise<Sent<T>>[]): Promise<Sent<T>> => {
  const sent = await Promise.race(attempts);
  if (!mayRepeat(sent)) return sent;
  const all = await Promise.all(attempts);
  return all.find((other) => other !== sent) ?? sent;
};

/** The second attempt needs a connection of its own. The signal aborts when the other one was answered. */
interface Attempt {
  readonly isFirst: boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends the requests of one probe run. They reject only with the signal's reason. Sequential requests share a connection to the shoot, parallel ones have one
 * each; no connection is from an earlier run, because a half-open one would look like an outage. A request that fails for a reason that another connection may
 * fix is repeated once, at once, on a new one; after 5 s without an answer a second one goes out beside the first.
 */
export class RunRequests {
  readonly #deps: RunRequestsDeps;
  readonly #request: RunRequestsOptions;
  readonly #free: ShootConnection[] = [];
  readonly #open = new Set<ShootConnection>();
  #slowest: number | undefined;
  #hasHung = false;

  constructor(deps: RunRequestsDeps, request: RunRequestsOptions) {
    this.#deps = deps;
    this.#request = request;
  }

  /** Sends a request to the shoot. */
  async shoot<T>(call: Call<T>): Promise<Sent<T>> {
    return this.#send((attempt) => this.#attempt(call, attempt));
  }

  /** Sends a request to the seed. An urgent request waits neither behind the ordinary rate limit nor for long on a connection that hangs. */
  async seed<T>(call: Call<T>, pace: RequestPace): Promise<Sent<T>> {
    const { seed } = this.#deps;
    const { signal } = this.#request;
    if (pace === 'urgent') return this.#send((attempt) => this.#call(seed, call, { ...attempt, priority: pace }));
    const options = { signal, limitMs: pace === 'spare' ? spareMs : Number.POSITIVE_INFINITY };
    const sent = await this.#call(seed, call, options);
    const isLate = !sent.ok && isApiError(sent.error, 'Timeout');
    return mayRepeat(sent) && !isLate ? this.#call(seed, call, options) : sent;
  }

  /** Returns the time of the shoot's slowest response, for the next run. If requests only hung, it is that of the previous run. */
  slowestResponseMs(): number | undefined {
    return this.#slowest ?? (this.#hasHung ? this.#request.slowestResponseMs : undefined);
  }

  /** Ends the connections to the shoot. */
  close(): void {
    for (const connection of this.#open) connection.close();
  }

  /** Makes one attempt, and another if the first fails or takes too long. The one that is not needed is aborted. */
  async #send<T>(send: (attempt: Attempt) => Promise<Sent<T>>): Promise<Sent<T>> {
    const { clock } = this.#deps;
    const { signal, deadline } = this.#request;
    // Not of `AbortSignal.any`: its entries in a FinalizationRegistry keep all that a run has received until the next garbage collection of the whole heap.
    const either = createScope({ signal, clock });
    const first = send({ isFirst: true, signal: either.signal });
    let cancel = (): void => undefined;
    const late = new Promise<undefined>((resolve) => {
      cancel = clock.timer(secondAfterMs, () => resolve(undefined));
    });
    try {
      const early = await Promise.race([first, late]);
      if (early !== undefined && !(mayRepeat(early) && clock.monotonic() < deadline)) return early;
      const second = send({ isFirst: false, signal: either.signal });
      if (early !== undefined) return await second;
      const answer = await firstAnswer([first, second]);
      either.fail(new Error('the other request was answered first'));
      return answer;
    } finally {
      cancel();
      first.catch(() => undefined);
      either.end();
    }
  }

  async #attempt<T>(call: Call<T>, { isFirst, signal }: Attempt): Promise<Sent<T>> {
    const { secret, secretKey } = this.#request;
    const free = isFirst ? this.#free.pop() : undefined;
    const connected: Result<ShootConnection, ReadError> =
      free === undefined ? shootClientFor(this.#deps, secret, secretKey) : { ok: true, value: free };
    if (!connected.ok) return connected;
    const connection = connected.value;
    this.#open.add(connection);
    const sentAt = this.#deps.clock.monotonic();
    let isAnswered = false;
    try {
      const sent = await this.#call(connection.client, call, { signal });
      this.#measure(sent, sentAt);
      isAnswered = sent.ok;
      return sent;
    } finally {
      if (isAnswered) this.#free.push(connection);
      else {
        this.#open.delete(connection);
        connection.close();
      }
    }
  }

  #call<T>(
    client: KubeClient,
    call: Call<T>,
    options: { readonly signal: AbortSignal; readonly priority?: 'urgent'; readonly limitMs?: number },
  ): Promise<Sent<T>> {
    const { signal, priority, limitMs = Math.max(this.#request.timeoutMs / 3, secondAfterMs) } = options;
    const rest = this.#request.deadline - this.#deps.clock.monotonic();
    // At least 1 ms: a run whose time is up ends in a Timeout like any other.
    const timeoutMs = Math.max(1, Math.min(rest, limitMs));
    return resultOf(client.call(call, { signal, timeoutMs, priority }), signal);
  }

  /** Measures the time to a response, successful or not. */
  #measure<T>(sent: Sent<T>, sentAt: number): void {
    const tookMs = this.#deps.clock.monotonic() - sentAt;
    const isAnswer = sent.ok || (sent.error instanceof ApiError && sent.error.status !== undefined);
    if (isAnswer) this.#slowest = Math.max(this.#slowest ?? 0, tookMs);
    else if (isApiError(sent.error, 'Timeout')) this.#hasHung ||= sent.error.fault.phase !== 'connecting';
  }
}
