import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type About, aboutLines } from './about.ts';
import { linesOfChanges } from './changes.ts';
import type { DemoFault } from './faults.ts';
import { type Choice, helpLine, keysIn, press } from './keys.ts';
import { type Line, line } from './line.ts';
import { twinName } from './setting.ts';
import type { DemoObservation, StatusSource } from './source.ts';

export interface LiveOptions {
  readonly source: StatusSource;
  readonly about: About;
  /** Registers the listener of the terminal's raw input; called once. */
  readonly listen: (onKeys: (input: string) => void) => void;
  readonly print: (line: Line) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const observeEveryMs = 250;

const faultLines = (before: DemoObservation, after: DemoObservation): readonly Line[] =>
  [...after.faults].flatMap(([name, { isCut, isEtcdDown }]) => {
    const known = before.faults.get(name);
    const cut = isCut ? 'its kubelets are cut off' : 'its kubelets are connected';
    const etcd = isEtcdDown ? 'its etcd is killed' : 'its etcd is mended';
    return [
      ...(isCut === known?.isCut ? [] : [line(cut, name, 'strong')]),
      ...(isEtcdDown === known?.isEtcdDown ? [] : [line(etcd, name, 'strong')]),
    ];
  });

/** The demo in a terminal: it prints what happens as lines, and a key injects a fault. */
class LiveDemo {
  readonly #options: LiveOptions;
  readonly #quit = new AbortController();
  /** Aborts with the signal of the options, or when the user quits. */
  readonly #signal: AbortSignal;
  #choice: Choice;
  #observation: DemoObservation | undefined;
  #problem: string | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#quit.signal]);
    const shoots = options.source.shoots.map(({ name }) => name);
    this.#choice = { shoots, twin: twinName, selected: shoots[0] ?? twinName, twinFollows: true };
  }

  async run(): Promise<void> {
    const { listen, print, clock } = this.#options;
    listen((input) => this.#onKeys(input));
    print(line(helpLine(this.#choice)));
    try {
      while (true) {
        await this.#observe();
        await clock.sleep(observeEveryMs, this.#signal);
      }
    } catch (error) {
      if (!this.#quit.signal.aborted) throw error;
    }
  }

  async #observe(): Promise<void> {
    const { source, print } = this.#options;
    try {
      const after = await source.observe(this.#signal);
      const before = this.#observation ?? after;
      this.#observation = after;
      this.#problem = undefined;
      for (const one of [...faultLines(before, after), ...linesOfChanges(before.status, after.status)]) print(one);
    } catch (error) {
      this.#tellFailure(error);
    }
  }

  #onKeys(input: string): void {
    const { print, about } = this.#options;
    for (const key of keysIn(input)) {
      const { choice, faults = [], says, shows, quits } = press(key, this.#choice);
      this.#choice = choice;
      if (says !== undefined) print(line(says, '', 'dim'));
      if (shows === 'help') for (const text of [...aboutLines(about), helpLine(choice)]) print(line(text));
      if (quits === true) this.#quit.abort(new Error('the user quits'));
      void this.#inject(faults);
    }
  }

  async #inject(faults: readonly DemoFault[]): Promise<void> {
    try {
      for (const fault of faults) await this.#options.source.inject(fault, this.#signal);
    } catch (error) {
      this.#tellFailure(error);
    }
  }

  /** Tells a failed request once, because the user may have caused it. */
  #tellFailure(error: unknown): void {
    if (this.#signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    const problem = `no response: ${error.message}`;
    if (problem !== this.#problem) this.#options.print(line(problem, '', 'bad'));
    this.#problem = problem;
  }
}

/** Prints what happens in the simulated seed, and injects a fault at each bound key, until the user quits. Rejects with `signal.reason`. */
export const runLive = (options: LiveOptions): Promise<void> => new LiveDemo(options).run();
