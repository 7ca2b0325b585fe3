import type { CallResult, Call } from '../../src/kubernetes/api/call.ts';
import type { CallOptions, KubeClient } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** A call that waits for a response from the test. */
export interface ScriptedCall {
  readonly call: Call<unknown>;
  readonly options: CallOptions;
  /** Marks the request as sent. With `sentTimeoutMs`, its signal no longer aborts it. */
  leave(): void;
  /** Responds with JSON, which the call decodes. */
  answer(json: unknown): void;
  fail(error: unknown): void;
}

export interface ScriptedClient extends KubeClient {
  /** Every call so far. */
  readonly calls: readonly ScriptedCall[];
  /** Calls that wait for a response, oldest first. */
  readonly waiting: readonly ScriptedCall[];
}

/** A client whose calls wait until the test responds. An abort ends a call at once; the test itself must play timeouts. */
export const createScriptedClient = (clock: Clock): ScriptedClient => {
  const calls: ScriptedCall[] = [];
  const waiting = new Set<ScriptedCall>();

  const call = <T>(asked: Call<T>, options: CallOptions): Promise<CallResult<T>> =>
    new Promise((resolve, reject) => {
      const sentAt = clock.monotonic();
      const fail = (error: unknown): void => {
        waiting.delete(scripted);
        options.signal.removeEventListener('abort', abort);
        reject(error);
      };
      const abort = (): void => fail(options.signal.reason);
      const scripted: ScriptedCall = {
        call: asked,
        options,
        leave: () => {
          options.beforeSend?.();
          if (options.sentTimeoutMs !== undefined) options.signal.removeEventListener('abort', abort);
        },
        answer: (json) => {
          waiting.delete(scripted);
          options.signal.removeEventListener('abort', abort);
          resolve({ value: asked.decode(json), sentAt, receivedAt: clock.monotonic() });
        },
        fail,
      };
      calls.push(scripted);
      waiting.add(scripted);
      if (options.signal.aborted) abort();
      else options.signal.addEventListener('abort', abort);
    });

  return {
    call,
    calls,
    get waiting() {
      return [...waiting];
    },
  };
};
