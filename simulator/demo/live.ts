import type { Clock } from '../../src/ports/clock.ts';
import { type About, aboutLines } from './about.ts';
import { linesOfChanges } from './changes.ts';
import { type Choice, helpLine, keysIn, press } from './keys.ts';
import { type Line, line } from './line.ts';
import { twinName } from './setting.ts';
import type { StatusSnapshot } from './snapshot.ts';
import type { Stage } from './stage.ts';

export interface LiveOptions {
  readonly stage: Stage;
  readonly about: About;
  /** Registers the listener of the terminal's raw input; called once. */
  readonly listen: (onKeys: (input: string) => void) => void;
  readonly print: (line: Line) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const observeEveryMs = 250;

const faultLines = (before: StatusSnapshot, after: StatusSnapshot): readonly Line[] =>
  after.shoots.flatMap(({ name, isCut, isEtcdDown }) => {
    const known = before.shoots.find((shoot) => shoot.name === name);
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
  #snapshot: StatusSnapshot | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#quit.signal]);
    const shoots = options.stage.shoots.map(({ name }) => name);
    this.#choice = { shoots, twin: twinName, selected: shoots[0] ?? twinName, twinFollows: true };
  }

  async run(): Promise<void> {
    const { listen, print, clock } = this.#options;
    listen((input) => this.#onKeys(input));
    print(line(helpLine(this.#choice)));
    try {
      while (true) {
        this.#observe();
        await clock.sleep(observeEveryMs, this.#signal);
      }
    } catch (error) {
      if (!this.#quit.signal.aborted) throw error;
    }
  }

  #observe(): void {
    const { stage, print } = this.#options;
    const after = stage.snapshot(this.#signal);
    const before = this.#snapshot ?? after;
    this.#snapshot = after;
    for (const one of [...faultLines(before, after), ...linesOfChanges(before, after)]) print(one);
  }

  #onKeys(input: string): void {
    const { stage, print, about } = this.#options;
    for (const key of keysIn(input)) {
      const { choice, faults = [], says, shows, quits } = press(key, this.#choice);
      this.#choice = choice;
      if (says !== undefined) print(line(says, '', 'dim'));
      if (shows === 'help') for (const text of [...aboutLines(about), helpLine(choice)]) print(line(text));
      if (quits === true) this.#quit.abort(new Error('the user quits'));
      for (const fault of faults) stage.inject(fault);
    }
  }
}

/** Prints what happens in the simulated seed, and injects a fault at each bound key, until the user quits. Rejects with `signal.reason`. */
export const runLive = (options: LiveOptions): Promise<void> => new LiveDemo(options).run();
