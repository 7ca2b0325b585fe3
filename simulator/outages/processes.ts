import type { Scenario } from '../harness/index.ts';
import type { FaultRule } from '../network/index.ts';
import { createSeededRandom } from '../time/index.ts';
import type { Life } from './history.ts';
import type { Plan } from './plan.ts';
import type { Recorder } from './record.ts';
import { type Watchdog, startWatchdog } from './watchdogs.ts';

/** The processes of a plan: each has a machine that starts it again when it ends. */
export interface Processes {
  kill(replica: number): void;
  /** As SIGTERM does. */
  stop(replica: number): void;
  /** Takes back one `kill` or `stop`. */
  restart(replica: number): void;
  pause(replica: number): void;
  resume(replica: number): Promise<void>;
  setWallOffset(replica: number, ms: number): void;
  /** The configuration file of all: the number of other settings, undefined for the usual ones. */
  configure(settings: number | undefined): void;
  /** By life. */
  running(): ReadonlyMap<Life, Watchdog>;
  /** Stops all in good order, moving the clock; resolves with how many do not end. */
  stopAll(): Promise<number>;
}

export interface ProcessesOptions {
  readonly plan: Plan;
  readonly scenario: Scenario;
  readonly recorder: Recorder;
  /** What happens to requests of a replica to a server. */
  readonly faults: (replica: number, server: string) => FaultRule;
}

interface Place {
  readonly number: number;
  lives: number;
  life: Life;
  replica: Watchdog | undefined;
  /** Faults that keep it down. */
  downs: number;
  pauses: number;
  wallOffset: number;
}

/** The kubelet's back-off before it starts a container again. */
const restartMs = 5_000;
const stopLimitMs = 20_000;

export const createProcesses = (options: ProcessesOptions): Processes => {
  const { plan, scenario, recorder, faults } = options;
  const { clock } = scenario;
  const random = createSeededRandom(plan.seed);
  const timers = new Set<() => void>();
  let settings: number | undefined;
  let isOver = false;

  const start = (place: Place): void => {
    place.lives += 1;
    const life = `${String(place.number)}.${String(place.lives)}`;
    const replica = startWatchdog({
      plan,
      scenario,
      settings,
      random: random.fork(`process/${life}`),
      listen: recorder.listen(life),
    });
    replica.machine.setWallOffset(place.wallOffset);
    replica.seedLine.setFaults(faults(place.number, 'seed'));
    for (const { name } of plan.shoots) {
      replica.shootLine(name).setFaults(faults(place.number, name));
      replica.outsideLine(name).setFaults(faults(place.number, `outside/${name}`));
    }
    Object.assign(place, { life, replica });
    recorder.note({ kind: 'process', life, what: 'starts' });
    void replica.ended.then(() => {
      const held = replica.machine.holds();
      replica.machine.kill();
      recorder.note({ kind: 'process', life, what: 'has ended', held: held.timers + held.requests });
      if (place.replica !== replica) return;
      place.replica = undefined;
      startLater(place);
    });
  };

  const startLater = (place: Place): void => {
    if (isOver) return;
    const cancel = clock.timer(restartMs, () => {
      timers.delete(cancel);
      if (!isOver && place.replica === undefined && place.downs === 0) start(place);
    });
    timers.add(cancel);
  };

  const places = Array.from({ length: plan.replicas }, (_, number): Place => {
    return { number, lives: 0, life: '', replica: undefined, downs: 0, pauses: 0, wallOffset: 0 };
  });
  for (const place of places) start(place);

  const at = (number: number): Place => {
    const place = places[number % places.length];
    if (place === undefined) throw new Error('a plan without replicas');
    return place;
  };

  const stopAll = async (): Promise<number> => {
    isOver = true;
    for (const cancel of timers) cancel();
    let left = 0;
    for (const { life, replica } of places) {
      if (replica === undefined) continue;
      left += 1;
      recorder.note({ kind: 'process', life, what: 'is told to stop' });
      replica.stop();
      void replica.ended.then(() => {
        left -= 1;
      });
    }
    const deadline = clock.monotonic() + stopLimitMs;
    while (left > 0 && clock.monotonic() < deadline) await clock.advance(500);
    return left;
  };

  return {
    kill: (number) => {
      const place = at(number);
      place.downs += 1;
      place.replica?.machine.kill();
      if (place.replica !== undefined) recorder.note({ kind: 'process', life: place.life, what: 'is killed' });
      place.replica = undefined;
    },
    stop: (number) => {
      const place = at(number);
      place.downs += 1;
      if (place.replica !== undefined) recorder.note({ kind: 'process', life: place.life, what: 'is told to stop' });
      place.replica?.stop();
    },
    restart: (number) => {
      const place = at(number);
      place.downs -= 1;
      if (place.downs > 0) return;
      if (place.replica === undefined) start(place);
    },
    pause: (number) => {
      const place = at(number);
      place.pauses += 1;
      if (place.replica === undefined) return;
      place.replica.machine.suspend();
      recorder.note({ kind: 'process', life: place.life, what: 'is paused' });
    },
    resume: async (number) => {
      const place = at(number);
      place.pauses -= 1;
      if (place.pauses > 0 || place.replica === undefined) return;
      recorder.note({ kind: 'process', life: place.life, what: 'goes on' });
      await place.replica.machine.resume(() => clock.settle());
    },
    setWallOffset: (number, ms) => {
      const place = at(number);
      place.wallOffset = ms;
      place.replica?.machine.setWallOffset(ms);
    },
    configure: (number) => {
      settings = number;
      for (const { replica } of places) replica?.configure(settings);
    },
    running: () =>
      new Map(places.flatMap(({ life, replica }) => (replica === undefined ? [] : [[life, replica] as const]))),
    stopAll,
  };
};
