import { type Paint, line, statusScreen } from '../../src/cli/status-screen/index.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { About } from './about.ts';
import type { DemoFault } from './faults.ts';
import { keysIn, press } from './keys.ts';
import { type LiveState, addEvents, beginLive, screenOf, takeObservation } from './live-state.ts';
import { twinName } from './setting.ts';
import type { StatusSource } from './source.ts';

/** The functions of a terminal that the demo needs. */
export interface LiveTerminal {
  size(): { readonly columns: number; readonly rows: number };
  draw(lines: readonly string[]): void;
  /** Registers the listeners; called once. `onKeys` receives the raw input of the terminal. */
  take(listeners: { readonly onKeys: (input: string) => void; readonly onResize: () => void }): void;
}

export interface LiveOptions {
  readonly source: StatusSource;
  readonly about: About;
  readonly terminal: LiveTerminal;
  readonly paint: Paint;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const observeEveryMs = 250;

/** The demo in a terminal. */
class LiveDemo {
  readonly #options: LiveOptions;
  readonly #since: number;
  readonly #quit = new AbortController();
  /** Aborts with the signal of the options, or when the user quits. */
  readonly #signal: AbortSignal;
  #state: LiveState;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#since = options.clock.monotonic();
    this.#signal = AbortSignal.any([options.signal, this.#quit.signal]);
    this.#state = beginLive(
      options.source.shoots.map(({ name }) => name),
      twinName,
    );
  }

  async run(): Promise<void> {
    const { terminal, clock } = this.#options;
    terminal.take({ onKeys: (input) => this.#onKeys(input), onResize: () => this.#draw() });
    this.#draw();
    try {
      while (true) {
        await this.#observe();
        this.#draw();
        await clock.sleep(observeEveryMs, this.#signal);
      }
    } catch (error) {
      if (!this.#quit.signal.aborted) throw error;
    }
  }

  get #elapsed(): number {
    return this.#options.clock.monotonic() - this.#since;
  }

  #draw(): void {
    if (this.#signal.aborted) return;
    const { terminal, about, paint } = this.#options;
    terminal.draw(statusScreen(screenOf(this.#state, about, this.#elapsed), terminal.size(), paint));
  }

  async #observe(): Promise<void> {
    try {
      const observation = await this.#options.source.observe(this.#signal);
      this.#state = takeObservation(this.#state, this.#elapsed, observation);
    } catch (error) {
      this.#showFailure(error);
    }
  }

  #onKeys(input: string): void {
    for (const key of keysIn(input)) {
      const { state, faults = [], quits } = press(key, this.#state);
      this.#state = state;
      if (quits === true) this.#quit.abort(new Error('the user quits'));
      void this.#inject(faults);
    }
    this.#draw();
  }

  async #inject(faults: readonly DemoFault[]): Promise<void> {
    try {
      for (const fault of faults) await this.#options.source.inject(fault, this.#signal);
    } catch (error) {
      this.#showFailure(error);
    }
  }

  /** Shows a failed request on the screen, because the user may have caused it. */
  #showFailure(error: unknown): void {
    if (this.#signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    this.#state = addEvents(this.#state, this.#elapsed, [line(`no response: ${error.message}`, '', 'bad')]);
  }
}

/** Shows the simulated seed, and injects a fault at each bound key, until the user quits. Rejects with `signal.reason`. */
export const runLive = (options: LiveOptions): Promise<void> => new LiveDemo(options).run();
