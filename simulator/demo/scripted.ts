import { type Line, line } from './line.ts';
import { linesOfChanges } from './changes.ts';
import { type StatusSnapshot } from './snapshot.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type CareOutput, linesOfCare } from './care.ts';
import { type DemoFinding, findingsOf } from './findings.ts';
import { type Watchdogs, type Recording, type Step, scriptOf } from './script.ts';
import { twinName } from './setting.ts';
import type { DemoFault, Stage } from './stage.ts';

export interface ScriptOptions {
  readonly stage: Stage;
  readonly watchdogs: Watchdogs;
  readonly clock: Clock;
  /** Runs care once for all shoots. Rejects with an error whose message gives the reason. */
  readonly runCare: () => Promise<CareOutput>;
  readonly print: (line: Line) => void;
  readonly signal: AbortSignal;
}

const observeEveryMs = 200;

/** A run of the script against the world. */
class ScriptedDemo {
  readonly #options: ScriptOptions;
  readonly #snapshots: StatusSnapshot[] = [];
  readonly #injectedAt = new Map<DemoFault['kind'], number>();
  #pending: readonly Step[];
  /** Monotonic time since which the watchdogs observe every shoot, in milliseconds. */
  #watchedAt: number | undefined;
  #hasCareEnded: boolean;

  constructor(options: ScriptOptions) {
    this.#options = options;
    this.#pending = scriptOf(options.watchdogs);
    this.#hasCareEnded = options.watchdogs.source === 'secret';
  }

  async run(): Promise<readonly DemoFinding[]> {
    const { stage, clock, signal } = this.#options;
    while (true) {
      this.#take(stage.snapshot(signal));
      if (stage.isWatched) this.#watchedAt ??= clock.monotonic();
      for (const step of this.#dueSteps()) this.#perform(step);
      if (this.#pending.length === 0) return findingsOf(this.#recording);
      await clock.sleep(observeEveryMs, signal);
    }
  }

  get #recording(): Recording {
    return { snapshots: this.#snapshots, injectedAt: this.#injectedAt, hasCareEnded: this.#hasCareEnded };
  }

  #take(snapshot: StatusSnapshot): void {
    const before = this.#snapshots.at(-1);
    this.#snapshots.push(snapshot);
    // Until etcd is mended, the twin has the same changes as the shoot that is weeded.
    const isTwinApart = this.#injectedAt.has('mend etcd');
    for (const change of before === undefined ? [] : linesOfChanges(before, snapshot)) {
      if (isTwinApart || change.about !== twinName) this.#options.print(change);
    }
  }

  /** Removes the due steps from the pending ones, and returns them. */
  #dueSteps(): readonly Step[] {
    const elapsed = this.#watchedAt === undefined ? -1 : this.#options.clock.monotonic() - this.#watchedAt;
    const isDue = ({ at, when }: Step): boolean =>
      elapsed >= at && (when === undefined || elapsed >= when.latest || when.holds(this.#recording));
    const due = this.#pending.filter(isDue);
    this.#pending = this.#pending.filter((step) => !due.includes(step));
    return due;
  }

  #perform({ about, faults = [], runsCare, sentence }: Step): void {
    const { stage, clock, print } = this.#options;
    print(line(sentence, about, 'strong'));
    if (runsCare === true) void this.#runCare();
    for (const fault of faults) {
      this.#injectedAt.set(fault.kind, clock.now());
      stage.inject(fault);
    }
  }

  /** Runs care and prints its findings. The demo continues meanwhile. */
  async #runCare(): Promise<void> {
    const { runCare, stage, print } = this.#options;
    try {
      const lines = linesOfCare(await runCare(), stage.shoots);
      for (const found of [line('the findings of care:', '', 'strong'), ...lines]) print(found);
    } catch (error) {
      print(line(`care failed: ${(error as Error).message}`, '', 'bad'));
    }
    this.#hasCareEnded = true;
  }
}

/** Runs the script and prints the changes. Resolves with the findings. Rejects with `signal.reason`. */
export const runScript = (options: ScriptOptions): Promise<readonly DemoFinding[]> => new ScriptedDemo(options).run();
