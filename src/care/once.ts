import { type Result, errorText } from '../kubernetes/api/errors.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { createRateLimiter, limitedStack } from '../kubernetes/client/index.ts';
import { type Connecting, findSeed, systemClock, systemRandom, userAgentOf, whenAborted } from '../process/index.ts';
import { type CareProcessDeps, careDeps, createShootAccess, limitsOf, withGarden } from './component.ts';
import { CareController } from './controller.ts';
import type { ShootResult } from './shoot.ts';
import { findShoot, noSuchShoot } from '../status/state/find-shoot.ts';

/** One result per shoot, in the order of their control-plane namespaces. */
export type CareResults = readonly ShootResult[];

export interface CareOnceDeps extends Omit<CareProcessDeps, 'configFile' | 'readFile' | 'load' | 'configWarnings'> {
  /** The only shoot to check, by any of its names. */
  readonly shoot?: string | undefined;
  /** Called with the seed before the first request. */
  readonly onConnect?: Connecting['onConnect'];
}

/** Timeout of the list of shoots, in milliseconds. */
const syncTimeoutMs = 30_000;

/** Checks every shoot once. The error of the result explains why that is not possible. Rejects with a KubeconfigError. */
export const runCareOnce = async (deps: CareOnceDeps): Promise<Result<CareResults, string>> => {
  const { env, flags, logger, meter, settings, takeOver } = deps;
  const [clock, random, userAgent] = [systemClock(), systemRandom(), userAgentOf(deps)];
  const connect = await findSeed({ ...deps, clock, userAgent });
  const transport = connect();
  const run = (garden: Kube | undefined): Promise<Result<CareResults, string>> => {
    const ports = {
      ...{ clock, random, logger, meter, garden },
      leadership: { mayWrite: () => true },
      seed: limitedStack(transport, { clock, limiter: createRateLimiter({ ...limitsOf(flags), clock, meter }) }),
      ...createShootAccess({ clock }, { userAgent, env }),
    };
    return checkAll(new CareController(settings, careDeps(ports, { takeOver, dryRun: flags.dryRun })), deps);
  };
  return withGarden(deps, clock, run).finally(() => transport.close());
};

const checkAll = async (care: CareController, deps: CareOnceDeps): Promise<Result<CareResults, string>> => {
  const { stop } = deps;
  try {
    const problem = await Promise.race([care.sync(syncTimeoutMs).then(() => undefined, errorText), whenAborted(stop)]);
    stop.throwIfAborted();
    return typeof problem === 'string' ? { ok: false, error: problem } : await checkEach(care, deps);
  } catch (error) {
    if (stop.aborted) return { ok: false, error: 'stopped before all shoots were checked' };
    throw error;
  } finally {
    await care.close();
  }
};

const checkEach = async (
  care: CareController,
  { settings, shoot, stop }: CareOnceDeps,
): Promise<Result<CareResults, string>> => {
  const known = care.shoots();
  const found = shoot === undefined ? known : [findShoot(known, shoot)].filter((one) => one !== undefined);
  if (shoot !== undefined && found.length === 0) return { ok: false, error: noSuchShoot(shoot, known) };
  const names = found.map(({ namespace }) => namespace);
  const results = new Map<string, ShootResult>();
  const queue = names.values();
  // All workers take names from the same iterator.
  const work = async (): Promise<void> => {
    for (const name of queue) {
      const result = await care.check(name, stop);
      if (result !== undefined) results.set(name, result);
    }
  };
  await Promise.all(Array.from({ length: settings.concurrentSyncs }, work));
  return { ok: true, value: names.flatMap((name) => results.get(name) ?? []) };
};
