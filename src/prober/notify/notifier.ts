import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PostResult, PostWebhook } from '../../process/index.ts';
import type { StateChange } from '../status/status-recorder.ts';
import type { NotifyMetrics } from './metrics.ts';
import { type Notification, notificationOf } from './notification.ts';
import type { Render } from './template.ts';

export interface NotifySettings {
  /**
   * Reads the URL that notifications go to, for each attempt, because a mounted Secret may change. The URL is itself a secret and appears in no message of
   * ours.
   */
  readonly url: () => Promise<string>;
  readonly render: Render;
}

export interface NotifierOptions extends NotifySettings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: NotifyMetrics;
  readonly post: PostWebhook;
  readonly leads: () => boolean;
}

const mostWaiting = 1_000;
const attemptMs = 10_000;
/** Pauses between attempts, in milliseconds. There is one more attempt than pauses. */
const pausesMs = [1_000, 2_000, 4_000, 8_000];
const longestPauseMs = 60_000;
/** A new leader also sends the changes that it saw this long before, in milliseconds: its predecessor may have died before it could send them. */
const inheritedMs = 30_000;

interface Failure {
  /** Description without any part of the URL. */
  readonly problem: string;
  readonly isFinal: boolean;
  readonly retryAfterMs?: number | undefined;
}

const failureOf = (result: PostResult): Failure | undefined => {
  if (result.kind === 'failed') return { problem: result.code, isFinal: false };
  const { status, retryAfterMs } = result;
  if (status >= 200 && status < 300) return undefined;
  const isFinal = status < 500 && status !== 408 && status !== 429;
  return { problem: `status ${String(status)}`, isFinal, retryAfterMs };
};

/** Posts changes of state one after the other, in order. Nothing waits for it. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #waiting: Notification[] = [];
  /** Changes that a standby has not sent: the latest one of each shoot, with its monotonic time. */
  readonly #unsent = new Map<string, { readonly at: number; readonly notification: Notification }>();
  readonly #stop = new AbortController();
  #isSending = false;
  #isFailing = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  changed(change: StateChange): void {
    const { clock, leads } = this.#options;
    const notification = notificationOf(change, clock.now());
    if (notification === undefined || this.#isStopped()) return;
    if (leads()) this.#enqueue(notification);
    else this.#unsent.set(notification.namespace, { at: clock.monotonic(), notification });
  }

  /** Called when this process becomes the leader: sends the changes of the last half minute. */
  led(): void {
    const since = this.#options.clock.monotonic() - inheritedMs;
    for (const { at, notification } of this.#unsent.values()) if (at >= since) this.#enqueue(notification);
    this.#unsent.clear();
  }

  /** Discards waiting notifications. */
  stop(): void {
    this.#stop.abort(new Error('the prober stops'));
    this.#waiting.length = 0;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #enqueue(notification: Notification): void {
    const { metrics } = this.#options;
    this.#waiting.push(notification);
    if (this.#waiting.length > mostWaiting) {
      this.#waiting.shift();
      metrics.notifications.inc({ result: 'dropped' });
    }
    metrics.waiting.set(this.#waiting.length);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#options.metrics.waiting.set(this.#waiting.length);
      await this.#deliver(next);
    }
    this.#isSending = false;
  }

  async #deliver(notification: Notification): Promise<void> {
    const { clock, metrics } = this.#options;
    const { signal } = this.#stop;
    for (let attempt = 0; !this.#isStopped(); attempt += 1) {
      const failure = await this.#post(notification);
      if (this.#isStopped()) return;
      if (failure === undefined) {
        this.#isFailing = false;
        metrics.notifications.inc({ result: 'sent' });
        return;
      }
      this.#report(notification, failure);
      const pauseMs = pausesMs[attempt];
      if (failure.isFinal || pauseMs === undefined) {
        metrics.notifications.inc({ result: 'failed' });
        return;
      }
      const waitMs = Math.min(longestPauseMs, Math.max(pauseMs, failure.retryAfterMs ?? 0));
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  async #post(notification: Notification): Promise<Failure | undefined> {
    const { clock, url, render, post } = this.#options;
    const attempt = new AbortController();
    const giveUp = (): void => attempt.abort(new Error('no answer in time'));
    const cancelTimer = clock.timer(attemptMs, giveUp);
    this.#stop.signal.addEventListener('abort', giveUp, { once: true });
    try {
      return failureOf(await post({ url: await url(), body: render(notification), signal: attempt.signal }));
    } catch (error) {
      const { code = 'unreadable' } = error as { readonly code?: string };
      return { problem: `the URL cannot be read: ${code}`, isFinal: false };
    } finally {
      cancelTimer();
      this.#stop.signal.removeEventListener('abort', giveUp);
    }
  }

  /** Warns about the first failure in a row only, so that a receiver that is down for hours does not fill the log. */
  #report({ namespace, state }: Notification, { problem }: Failure): void {
    const fields = { namespace, state, problem };
    this.#options.logger[this.#isFailing ? 'debug' : 'warn']('a notification was not taken', fields);
    this.#isFailing = true;
  }
}
