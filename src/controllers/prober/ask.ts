import { type Answer, ApiError, type ApiErrorCode, type Call, type Result } from '../../domain/index.ts';
import type { Clock, KubeClient, ShootConnection } from '../../ports/index.ts';
import { type ConnectDeps, connectShoot } from './connect.ts';
import type { ReadError } from './verdict.ts';

export interface AskDeps extends ConnectDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
}

export interface AskRequest {
  /** `namespace/name` of the Secret with the kubeconfig. */
  readonly secret: string;
  /** Monotonic instant at which all is over. */
  readonly deadline: number;
  /** Of the latest run that got an answer of the shoot, in milliseconds. */
  readonly slowestAnswerMs?: number | undefined;
  readonly signal: AbortSignal;
}

export type Sent<T> = Result<Answer<T>, ReadError>;

/** The requests of one probe run. Rejects only with the signal's reason. */
export interface Asker {
  shoot<T>(call: Call<T>): Promise<Sent<T>>;
  /** `urgent` does not wait behind the ordinary rate limit, nor for long on a connection that hangs. */
  seed<T>(call: Call<T>, urgent: boolean): Promise<Sent<T>>;
  /** What the next run is to know of how long answers of the shoot take. */
  slowestAnswerMs(): number | undefined;
  /** Ends the connections to the shoot. */
  close(): void;
}

/** A request that takes longer is repeated, unless answers are known to take long. */
const firstAttemptMs = 5_000;

const repeatedCodes: ReadonlySet<ApiErrorCode> = new Set(['ServerError', 'Timeout']);
const brokenConnection: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT']);

/** Whether the same request may well be answered on another connection. */
const isRepeated = ({ code, fault }: ApiError): boolean =>
  repeatedCodes.has(code) || (code === 'ConnectionError' && brokenConnection.has(fault.code ?? ''));

/**
 * Requests that come one after the other share a connection to the shoot, those side by side have one each; none is of an earlier run, lest a half-open one
 * look like an outage. What fails for a reason that another connection may mend is repeated once, at once, on a new one. The first try has 5 s, or twice as long
 * as answers have taken of late; the repeated one has all that is left of the run, so that no answer is too late for ever.
 */
export const createAsker = (deps: AskDeps, request: AskRequest): Asker => {
  const { clock, seed } = deps;
  const { secret, deadline, signal, slowestAnswerMs: before } = request;
  const free: ShootConnection[] = [];
  const open = new Set<ShootConnection>();
  let slowest: number | undefined;
  let hasHung = false;

  const connect = (): Result<ShootConnection, ReadError> => {
    const connected = connectShoot(deps, secret);
    if (connected.ok) open.add(connected.value);
    return connected;
  };

  const send = async <T>(client: KubeClient, call: Call<T>, options: SendOptions): Promise<Sent<T>> => {
    // At least 1 ms: a run whose time is up ends in a Timeout like any other.
    const timeoutMs = Math.max(1, Math.min(options.timeoutMs, deadline - clock.monotonic()));
    const lane = options.urgent === true ? ({ lane: 'urgent' } as const) : {};
    try {
      return { ok: true, value: await client.call(call, { signal, timeoutMs, ...lane }) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) return { ok: false, error };
      throw error;
    }
  };

  /** How long the shoot took to answer, well or not. */
  const measure = <T>(sent: Sent<T>, sentAt: number): void => {
    const isAnswer = sent.ok || (sent.error instanceof ApiError && sent.error.status !== undefined);
    if (isAnswer) slowest = Math.max(slowest ?? 0, clock.monotonic() - sentAt);
    else if (sent.error instanceof ApiError && sent.error.code === 'Timeout') {
      hasHung ||= sent.error.fault.phase !== 'connecting';
    }
  };

  const trySend = async <T>(
    connection: Result<ShootConnection, ReadError>,
    call: Call<T>,
    timeoutMs: number,
  ): Promise<Sent<T>> => {
    if (!connection.ok) return connection;
    const sentAt = clock.monotonic();
    const sent = await send(connection.value.client, call, { timeoutMs });
    measure(sent, sentAt);
    if (sent.ok) free.push(connection.value);
    else closeOne(connection.value);
    return sent;
  };

  const closeOne = (connection: ShootConnection): void => {
    open.delete(connection);
    connection.close();
  };

  const mayRepeat = <T>(sent: Sent<T>): boolean =>
    !sent.ok && sent.error instanceof ApiError && isRepeated(sent.error) && clock.monotonic() < deadline;

  return {
    shoot: async (call) => {
      const taken = free.pop();
      const connection = taken === undefined ? connect() : ({ ok: true, value: taken } as const);
      const first = await trySend(connection, call, Math.max(firstAttemptMs, 2 * Math.max(before ?? 0, slowest ?? 0)));
      return mayRepeat(first) ? trySend(connect(), call, Number.POSITIVE_INFINITY) : first;
    },
    seed: async (call, urgent) => {
      const first = await send(seed, call, { urgent, timeoutMs: urgent ? firstAttemptMs : Number.POSITIVE_INFINITY });
      // What is not urgent may wait for its turn for as long as the run lasts.
      const isLate = !urgent && !first.ok && first.error instanceof ApiError && first.error.code === 'Timeout';
      return mayRepeat(first) && !isLate ? send(seed, call, { urgent, timeoutMs: Number.POSITIVE_INFINITY }) : first;
    },
    // Of a run that only hung nothing new is known.
    slowestAnswerMs: () => slowest ?? (hasHung ? before : undefined),
    close: () => {
      for (const connection of [...open]) closeOne(connection);
    },
  };
};

interface SendOptions {
  readonly timeoutMs: number;
  readonly urgent?: boolean;
}
