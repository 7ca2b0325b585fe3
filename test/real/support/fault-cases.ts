import { waitFor } from '../../envtest/waiting.ts';
import type { FaultyShoot } from './faulty-shoot.ts';
import type { WireFault } from './fault.ts';
import type { Program } from './program.ts';

/** A fault, the shoot that has it, and the results. */
export interface FaultCase {
  readonly fault: WireFault;
  readonly faulty: FaultyShoot;
  heal: () => Promise<void> | void;
  /** Number of runs by result at the start or the end of the fault. */
  before: ReadonlyMap<string, number>;
  /** Results of the runs during the fault, as text. */
  said: string;
  readonly recovered: Set<'healthy' | 'protected' | 'restored'>;
}

/** Long, for a busy machine. */
const patienceMs = 90_000;
/** Number of runs that must end as expected. */
const enough = 2;

export const createCase = (fault: WireFault, faulty: FaultyShoot): FaultCase => ({
  fault,
  faulty,
  heal: () => undefined,
  before: new Map(),
  said: '',
  recovered: new Set(),
});

/** The complete log lines that were read so far, by namespace. */
interface ReadLog {
  end: number;
  readonly byNamespace: Map<string, string[]>;
}

const logs = new WeakMap<Program, ReadLog>();

/** Returns the log lines of a case's namespace. Reads only the new part of the log, because dozens of cases call it twice a second. */
const linesOf = ({ faulty: { namespace, watchdog } }: FaultCase): readonly string[] => {
  const program = watchdog.program();
  const log = logs.get(program) ?? { end: 0, byNamespace: new Map<string, string[]>() };
  logs.set(program, log);
  const output = program.output();
  const end = output.lastIndexOf('\n') + 1;
  for (const line of output.slice(log.end, end).split('\n')) {
    const [, named] = /"namespace":"([^"]+)"/.exec(line) ?? [];
    if (named === undefined) continue;
    const lines = log.byNamespace.get(named);
    if (lines === undefined) log.byNamespace.set(named, [line]);
    else lines.push(line);
  }
  log.end = end;
  return log.byNamespace.get(namespace) ?? [];
};

const isSaid = (it: FaultCase, words: RegExp | undefined): boolean =>
  words === undefined || linesOf(it).some((line) => words.test(line));

/** Counts the runs by result since the start or the end of the fault. */
const resultsOf = async ({ faulty, before }: FaultCase): Promise<readonly (readonly [string, number])[]> => {
  const results = await faulty.watchdog.results(faulty.namespace);
  return Array.from(results, ([result, count]) => [result, count - (before.get(result) ?? 0)] as const).filter(
    ([, count]) => count > 0,
  );
};

const hasEnded = async (it: FaultCase, result: string): Promise<boolean> =>
  (await resultsOf(it)).some(([ended, count]) => ended === result && count >= enough);

/** Waits for each case on its own. Fails with the errors of all cases that do not meet the condition in time. */
const inAll = async (
  cases: readonly FaultCase[],
  what: string,
  isSo: (it: FaultCase) => Promise<boolean>,
): Promise<void> => {
  const waits = cases.map(async (it) => {
    try {
      await waitFor({ what, withinMs: patienceMs, everyMs: 500 }, () => isSo(it));
    } catch (error) {
      const details = [String(error), JSON.stringify(await resultsOf(it)), ...linesOf(it).slice(-12)];
      throw new Error(`${it.faulty.name}: ${details.join('\n')}`, { cause: error });
    }
  });
  const failures = (await Promise.allSettled(waits)).flatMap((end): unknown[] =>
    end.status === 'rejected' ? [end.reason] : [],
  );
  if (failures.length > 0) throw new Error(failures.map(String).join('\n'));
};

const mark = async (it: FaultCase): Promise<void> => {
  it.before = await it.faulty.watchdog.results(it.faulty.namespace);
};

/** Starts all faults. Waits until the watchdog has noticed each. */
export const startFaults = async (cases: readonly FaultCase[]): Promise<void> => {
  await Promise.all(
    cases.map(async (it) => {
      it.heal = await it.fault.start(it.faulty);
      await mark(it);
    }),
  );
  await inAll(cases, 'the fault is noticed', async (it) => {
    const { result, says } = it.fault;
    return result === undefined || (isSaid(it, says) && (await hasEnded(it, result)));
  });
};

export const endFaults = async (cases: readonly FaultCase[]): Promise<void> => {
  await Promise.all(
    cases.map(async (it) => {
      await it.heal();
      await mark(it);
    }),
  );
};

/** Notes the results since the start of the faults, for the table, and resets the record of recoveries. */
export const listen = async (cases: readonly FaultCase[]): Promise<void> => {
  for (const it of cases) {
    const results = await resultsOf(it);
    it.recovered.clear();
    it.said = results.map(([result, count]) => `${result} ${String(count)}`).join(', ') || 'no runs';
  }
};

export const untilHealthy = (cases: readonly FaultCase[]): Promise<void> =>
  inAll(cases, 'healthy', async (it) => {
    const isHealthy = await hasEnded(it, 'healthy');
    if (isHealthy) it.recovered.add('healthy');
    return isHealthy;
  });

export const untilSaidInOutage = (cases: readonly FaultCase[]): Promise<void> =>
  inAll(cases, 'told in an outage', async (it) => isSaid(it, it.fault.saysInOutage));

export const untilProtected = (cases: readonly FaultCase[]): Promise<void> =>
  inAll(cases, 'protected', async (it) => {
    const isProtected = await it.faulty.isDown();
    if (isProtected) it.recovered.add('protected');
    return isProtected;
  });

export const untilRestored = (cases: readonly FaultCase[]): Promise<void> =>
  inAll(cases, 'restored', async (it) => {
    const isRestored = await it.faulty.isUp();
    if (isRestored) it.recovered.add('restored');
    return isRestored;
  });
