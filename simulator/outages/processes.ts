import type { ReplicaWorld, SimulatedReplica } from '../harness/index.ts';
import type { FaultRule } from '../network/index.ts';
import type { VirtualClock } from '../time/index.ts';
import type { Handlers } from './faults.ts';
import type { Occurrence, ProcessName, ProcessRemains } from './history.ts';

/** A process of the component under test. `configure` reloads the settings of that index, or the usual ones if undefined. */
export type Watchdog = Omit<SimulatedReplica, 'reload'> & { configure?(settings: number | undefined): void };

export interface ProcessesOptions extends ReplicaWorld {
  readonly clock: VirtualClock;
  readonly replicas: number;
  /** Starts a process, with the settings of that index, or the usual ones. */
  readonly create: (process: ProcessName, settings: number | undefined) => Watchdog;
  /** Returns the fault rule for requests of a replica to a server. */
  readonly faults: (replica: number, server: string) => FaultRule;
  readonly note?: (occurrence: Occurrence) => void;
}

interface Place {
  readonly number: number;
  starts: number;
  process: ProcessName;
  replica: Watchdog | undefined;
  /** Number of active faults that keep it down. */
  downs: number;
  /** Number of active faults that suspend its process. */
  pauses: number;
  wallOffset: number;
}

/** The kubelet's back-off before it starts a container again. */
const restartMs = 5_000;
const stopLimitMs = 20_000;

/** Matches the metrics that count probers and weedings. */
const counted = /^(?:dwd_prober_probers|dwd_weeder_weedings)[{ ]/;
/** Metric that each scrape reads from the objects: it may mention a deleted shoot whose resources are still held. */
const readFromObjects = 'dwd_prober_held_unprobed{';

/** The processes of a plan. Each is restarted when it ends. */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #places: readonly Place[];
  #settings: number | undefined;
  #isOver = false;
  readonly handlers: Handlers<'watchdog-clock' | 'kill' | 'stop' | 'pause' | 'reload'> = {
    'watchdog-clock': ({ replica, ms }) => {
      this.#setWallOffset(replica, ms);
      return () => this.#setWallOffset(replica, 0);
    },
    kill: ({ replica }) => {
      const place = this.#place(replica);
      place.downs += 1;
      place.replica?.process.kill();
      this.#note(place, 'is killed');
      place.replica = undefined;
      return () => this.#revive(place);
    },
    /** Like SIGTERM. */
    stop: ({ replica }) => {
      const place = this.#place(replica);
      place.downs += 1;
      this.#note(place, 'receives SIGTERM');
      place.replica?.stop();
      return () => this.#revive(place);
    },
    pause: ({ replica }) => this.#pause(this.#place(replica)),
    reload: ({ settings }) => {
      this.#configure(settings);
      return () => this.#configure(undefined);
    },
  };

  /** Starts all processes. */
  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.replicas }, (_, number): Place => {
      return { number, starts: 0, process: '', replica: undefined, downs: 0, pauses: 0, wallOffset: 0 };
    });
    for (const place of this.#places) this.#start(place);
  }

  /** Returns the remains of shoots or weedings in each idle process. Moves the clock. */
  async remains(): Promise<ReadonlyMap<ProcessName, ProcessRemains>> {
    const { clock, world } = this.#options;
    const remains = new Map<ProcessName, ProcessRemains>();
    for (const { process, replica } of this.#places) {
      if (replica === undefined) continue;
      let [timers, requests] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      // Requests come and go, above all those of the election, so only the minimum of some samples counts as held.
      for (let sample = 0; sample < 5; sample += 1) {
        const held = replica.process.holds();
        timers = Math.min(timers, held.timers);
        requests = Math.min(requests, held.requests);
        await clock.advance(700);
      }
      const lines = (await replica.meter.metricsText()).split('\n').filter((line) => !line.startsWith(readFromObjects));
      const gone = world.shoots.filter(({ namespace }) => lines.some((line) => line.includes(`"${namespace}"`)));
      const series = lines.filter((line) => counted.test(line) && !line.endsWith(' 0'));
      remains.set(process, { timers, requests, remembered: [...series, ...gone.map(({ name }) => name)] });
    }
    return remains;
  }

  /** Stops all processes gracefully, and moves the clock. Resolves with the number of processes that do not end. */
  async stopAll(): Promise<number> {
    const { clock } = this.#options;
    this.#isOver = true;
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
  #note({ process, replica }: Place, what: Extract<Occurrence, { kind: 'process' }>['what']): void {
    if (replica !== undefined) this.#options.note?.({ kind: 'process', process, what });
  }

  /** Reverts one fault that keeps a process down. */
  #revive(place: Place): void {
    place.downs -= 1;
    if (place.downs === 0 && place.replica === undefined) this.#start(place);
  }

  /** Suspends a process like SIGSTOP. Returns a function that resumes it. A process that is started meanwhile runs. */
  #pause(place: Place): () => Promise<void> {
    const paused = place.replica;
    place.pauses += 1;
    paused?.process.suspend();
    this.#note(place, 'is paused');
    return async () => {
      if (paused === undefined || place.replica !== paused) return;
      place.pauses -= 1;
      if (place.pauses > 0) return;
      this.#note(place, 'goes on');
      await paused.process.resume(() => this.#options.clock.settle());
    };
  }

  #setWallOffset(replica: number, ms: number): void {
    const place = this.#place(replica);
    place.wallOffset = ms;
    place.replica?.process.setWallOffset(ms);
  }

  #configure(settings: number | undefined): void {
    this.#settings = settings;
    for (const { replica } of this.#places) replica?.configure?.(settings);
  }

  #start(place: Place): void {
    const { clock, world, create, faults, note = () => undefined } = this.#options;
    place.starts += 1;
    const process = `${String(place.number)}.${String(place.starts)}`;
    const replica = create(process, this.#settings);
    replica.process.setWallOffset(place.wallOffset);
    replica.seedConnection.setFaults(faults(place.number, 'seed'));
    for (const { name } of world.shoots) {
      replica.shootConnection(name).setFaults(faults(place.number, name));
      replica.publicConnection(name).setFaults(faults(place.number, `outside/${name}`));
    }
    Object.assign(place, { process, replica, pauses: 0 });
    note({ kind: 'process', process, what: 'starts' });
    void replica.ended.then(() => {
      const held = replica.process.holds();
      replica.process.kill();
      note({ kind: 'process', process, what: 'has ended', held: held.timers + held.requests });
      if (place.replica !== replica) return;
      place.replica = undefined;
      if (this.#isOver) return;
      clock.timer(restartMs, () => {
        if (!this.#isOver && place.replica === undefined && place.downs === 0) this.#start(place);
      });
    });
  }
}
