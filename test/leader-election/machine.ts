import type { Kube, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';

/** A machine of its own: its clocks may run wrong, and its process can be suspended as by SIGSTOP. */
export interface ElectionProcess {
  readonly clock: Clock;
  /** What the process sends through it, and what it hears. */
  connect(kube: Kube): Kube;
  suspend(): void;
  /** Everything that came due meanwhile happens now, promises running in between as they do between Node's timers. */
  resume(): Promise<void>;
  /** Jumps of the wall clock, ahead of the true one. */
  setWallOffset(ms: number): void;
}

export interface MachineOptions {
  readonly clock: Clock;
  /** Seconds on this machine's monotonic clock per true second. */
  readonly rate?: number;
  /** Order in which what came due is done; default as it came. */
  readonly shuffle?: <T>(items: T[]) => T[];
}

export const createMachine = ({ clock, rate = 1, shuffle = (items) => items }: MachineOptions): ElectionProcess => {
  let suspended = false;
  let wallOffset = 0;
  let due: { readonly act: () => void }[] = [];

  /** Does it as soon as the process runs. Returns what takes it back. */
  const whenAwake = (act: () => void): (() => void) => {
    if (!suspended) {
      act();
      return () => undefined;
    }
    const entry = { act };
    due.push(entry);
    return () => {
      due = due.filter((other) => other !== entry);
    };
  };

  const timer: Clock['timer'] = (ms, callback) => {
    let takeBack: () => void = () => undefined;
    const cancel = clock.timer(ms / rate, () => {
      takeBack = whenAwake(callback);
    });
    return () => {
      cancel();
      takeBack();
    };
  };

  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      const cancel = timer(ms, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });

  return {
    clock: {
      now: () => clock.now() + wallOffset,
      monotonic: () => clock.monotonic() * rate,
      timer,
      sleep: (ms, signal) => (ms > 0 || signal.aborted ? sleep(ms, signal) : Promise.resolve()),
    },
    connect: (kube) => ({
      request: (request) =>
        new Promise<KubeResponse>((resolve, reject) => {
          kube.request(request).then(
            (response) => whenAwake(() => resolve(response)),
            (error: unknown) => whenAwake(() => reject(error instanceof Error ? error : new Error(String(error)))),
          );
        }),
    }),
    suspend: () => {
      suspended = true;
    },
    resume: async () => {
      suspended = false;
      const entries = shuffle(due);
      for (const entry of entries) {
        if (!due.includes(entry)) continue;
        entry.act();
        for (let count = 0; count < 20; count += 1) await Promise.resolve();
      }
      due = [];
    },
    setWallOffset: (ms) => {
      wallOffset = ms;
    },
  };
};
