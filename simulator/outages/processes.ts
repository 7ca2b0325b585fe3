import type { Scenario } from '../harness/index.ts';
import type { FaultRule } from '../network/index.ts';
import { type SeededRandom, createSeededRandom } from '../time/index.ts';
import type { ProcessName } from './history.ts';
import type { Plan } from './plan.ts';
import type { Recorder } from './record.ts';
import { type PlannedWatchdog, startWatchdog } from './watchdogs.ts';

export interface ProcessesOptions {
  readonly plan: Plan;
  readonly scenario: Scenario;
  readonly recorder: Recorder;
  /** Returns the fault rule for requests of a replica to a server. */
  readonly faults: (replica: number, server: string) => FaultRule;
}

interface Place {
  readonly number: number;
  starts: number;
  process: ProcessName;
  replica: PlannedWatchdog | undefined;
  /** Number of active faults that keep it down. */
  downs: number;
  /** Number of active faults that suspend its process. */
  pauses: number;
  wallOffset: number;
}

/** The kubelet's back-off before it starts a container again. */
const restartMs = 5_000;
const stopLimitMs = 20_000;

/** The processes of a plan. Each is restarted when it ends. */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #random: SeededRandom;
  readonly #timers = new Set<() => void>();
  readonly #places: readonly Place[];
  #settings: number | undefined;
  #isOver = false;

  /** Starts all processes. */
  constructor(options: ProcessesOptions) {
    const { plan } = options;
    this.#options = options;
    this.#random = createSeededRandom(plan.seed);
    this.#places = Array.from({ length: plan.replicas }, (_, number): Place => {
      return { number, starts: 0, process: '', replica: undefined, downs: 0, pauses: 0, wallOffset: 0 };
    });
    for (const place of this.#places) this.#start(place);
  }

  kill(replica: number): void {
    const place = this.#place(replica);
    place.downs += 1;
    place.replica?.process.kill();
    this.#note(place, 'is killed');
    place.replica = undefined;
  }

  /** Stops a process like SIGTERM. */
  stop(replica: number): void {
    const place = this.#place(replica);
    place.downs += 1;
    this.#note(place, 'receives SIGTERM');
    place.replica?.stop();
  }

  /** Reverts one `kill` or `stop`. */
  restart(replica: number): void {
    const place = this.#place(replica);
    place.downs -= 1;
    if (place.downs === 0 && place.replica === undefined) this.#start(place);
  }

  /** Suspends a process like SIGSTOP. Returns a function that resumes it. A process that is started meanwhile runs. */
  pause(replica: number): () => Promise<void> {
    const place = this.#place(replica);
    const paused = place.replica;
    place.pauses += 1;
    paused?.process.suspend();
    this.#note(place, 'is paused');
    return async () => {
      if (paused === undefined || place.replica !== paused) return;
      place.pauses -= 1;
      if (place.pauses > 0) return;
      this.#note(place, 'goes on');
      await paused.process.resume(() => this.#options.scenario.clock.settle());
    };
  }

  setWallOffset(replica: number, ms: number): void {
    const place = this.#place(replica);
    place.wallOffset = ms;
    place.replica?.process.setWallOffset(ms);
  }

  /** Reloads the configuration of all processes: the settings of that index, or the usual ones if undefined. */
  configure(settings: number | undefined): void {
    this.#settings = settings;
    for (const { replica } of this.#places) replica?.configure(settings);
  }

  running(): ReadonlyMap<ProcessName, PlannedWatchdog> {
    return new Map(this.#places.flatMap(({ process, replica }) => (replica === undefined ? [] : [[process, replica]])));
  }

  /** Stops all processes gracefully, and moves the clock. Resolves with the number of processes that do not end. */
  async stopAll(): Promise<number> {
    const { clock } = this.#options.scenario;
    this.#isOver = true;
    for (const cancel of this.#timers) cancel();
    let left = 0;
    for (const place of this.#places) {
      if (place.replica === undefined) continue;
      left += 1;
      this.#note(place, 'receives SIGTERM');
      place.replica.stop();
      void place.replica.ended.then(() => {
        left -= 1;
      });
    }
    const deadline = clock.monotonic() + stopLimitMs;
    while (left > 0 && clock.monotonic() < deadline) await clock.advance(500);
    return left;
  }

  #place(replica: number): Place {
    const place = this.#places[replica % this.#places.length];
    if (place === undefined) throw new Error('a plan without replicas');
    return place;
  }

  /** Records an event of a process, if one runs. */
  #note({ process, replica }: Place, what: 'is killed' | 'is paused' | 'goes on' | 'receives SIGTERM'): void {
    if (replica !== undefined) this.#options.recorder.note({ kind: 'process', process, what });
  }

  #start(place: Place): void {
    const { plan, scenario, recorder, faults } = this.#options;
    place.starts += 1;
    const process = `${String(place.number)}.${String(place.starts)}`;
    const replica = startWatchdog({
      plan,
      scenario,
      settings: this.#settings,
      random: this.#random.fork(`process/${process}`),
      listen: recorder.listen(process),
    });
    replica.process.setWallOffset(place.wallOffset);
    replica.seedConnection.setFaults(faults(place.number, 'seed'));
    for (const { name } of plan.shoots) {
      replica.shootConnection(name).setFaults(faults(place.number, name));
      replica.publicConnection(name).setFaults(faults(place.number, `outside/${name}`));
    }
    Object.assign(place, { process, replica, pauses: 0 });
    recorder.note({ kind: 'process', process, what: 'starts' });
    void replica.ended.then(() => {
      const held = replica.process.holds();
      replica.process.kill();
      recorder.note({ kind: 'process', process, what: 'has ended', held: held.timers + held.requests });
      if (place.replica !== replica) return;
      place.replica = undefined;
      this.#startLater(place);
    });
  }

  #startLater(place: Place): void {
    if (this.#isOver) return;
    const cancel = this.#options.scenario.clock.timer(restartMs, () => {
      this.#timers.delete(cancel);
      if (!this.#isOver && place.replica === undefined && place.downs === 0) this.#start(place);
    });
    this.#timers.add(cancel);
  }
}
