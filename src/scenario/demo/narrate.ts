import { ApiError } from '../../domain/index.ts';
import type { Clock } from '../../ports/index.ts';
import { advance, beginTale, type Cue } from './director.ts';
import { type Finding, findings, type Plan } from './evidence.ts';
import type { Line } from './line.ts';
import { observe, setKubelets, type Watched } from './observe.ts';
import type { Snapshot } from './snapshot.ts';

export interface NarratorOptions {
  readonly watched: Watched;
  readonly plan: Plan;
  readonly clock: Clock;
  /** Monotonic time when the demo began. */
  readonly since: number;
  /** Whether the prober has judged every shoot. */
  readonly isWatched: () => boolean;
  /** `at`: milliseconds since the demo began. */
  readonly tell: (line: Line, at: number) => void;
  readonly signal: AbortSignal;
}

const lookEveryMs = 200;
const requestTimeoutMs = 5_000;
/** Looks that may fail in a row: the world has only one processor to share with everybody. */
const mostFailures = 3;

const look = async (options: NarratorOptions): Promise<Snapshot> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await observe(options.watched, options);
    } catch (error) {
      if (!(error instanceof ApiError) || failures === mostFailures) throw error;
      await options.clock.sleep(lookEveryMs, options.signal);
    }
  }
};

const play = async (cue: Cue | undefined, { watched, plan, signal }: NarratorOptions): Promise<void> => {
  const victim = watched.shoots.find(({ name }) => name === plan.victim);
  if (victim === undefined || cue === undefined || cue === 'end') return;
  const state = cue === 'cut' ? 'cut' : 'connected';
  await watched.seed.call(setKubelets(victim.namespace, state), { signal, timeoutMs: requestTimeoutMs });
};

/**
 * Watches the world through its API servers, cuts one shoot off and repairs it, and tells what is seen. Resolves with what was seen of
 * what should be; rejects with an ApiError when the world does not answer and with `signal.reason`.
 */
export const narrate = async (options: NarratorOptions): Promise<readonly Finding[]> => {
  const { plan, clock, signal } = options;
  let tale = beginTale;
  while (true) {
    const snapshot = await look(options);
    const scene = advance(tale, snapshot, { plan, facts: { isWatched: options.isWatched() } });
    tale = scene.tale;
    for (const line of scene.lines) options.tell(line, snapshot.at);
    await play(scene.cue, options);
    if (scene.cue === 'end') return findings(tale.evidence, plan);
    await clock.sleep(lookEveryMs, signal);
  }
};
