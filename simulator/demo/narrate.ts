import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type Act, perform } from './acts.ts';
import { createCareQuestion } from './care/question.ts';
import type { CareReport } from './care/verdicts.ts';
import { type Line, line } from './line.ts';
import { type Watched, observe } from './observe.ts';
import { advance, beginTale, isTimeForCare } from './prober/director.ts';
import { type Plan, findings } from './prober/evidence.ts';
import type { Snapshot } from './snapshot.ts';
import type { Finding } from './story.ts';
import { advanceCrashTale, beginCrashTale } from './weeder/director.ts';
import { type CrashPlan, findings as crashFindings } from './weeder/evidence.ts';

export interface NarratorOptions {
  readonly watched: Watched;
  readonly plan: Plan;
  readonly crashPlan: CrashPlan;
  readonly clock: Clock;
  /** Monotonic time when the demo began. */
  readonly since: number;
  /** Whether those of prober and weeder that are to run watch over every shoot. */
  readonly isWatched: () => boolean;
  /** Asks care of all shoots. Rejects with an error whose message says why it cannot be asked. */
  readonly askCare: () => Promise<CareReport>;
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

const play = async (act: Act, { watched, signal }: NarratorOptions): Promise<void> => {
  const shoot = watched.shoots.find(({ name }) => name === act.shoot);
  if (shoot === undefined) throw new Error(`no shoot ${act.shoot} in the demo`);
  await watched.seed.call(perform(act, shoot.namespace), { signal, timeoutMs: requestTimeoutMs });
};

/**
 * Watches the world through its API servers, strikes two shoots in two ways and mends that, and tells both stories as they are seen. Resolves
 * with what was seen of what should be; rejects with an ApiError when the world does not answer and with `signal.reason`.
 */
export const narrate = async (options: NarratorOptions): Promise<readonly Finding[]> => {
  const { plan, crashPlan, clock, signal } = options;
  let tale = beginTale;
  let crashTale = beginCrashTale;
  const care = createCareQuestion({ askCare: options.askCare, shoots: options.watched.shoots });
  while (true) {
    const snapshot = await look(options);
    const isCalm = tale.phase === 'calm' || crashTale.phase === 'calm';
    if (isTimeForCare(tale, snapshot)) care.ask();
    const facts = { isWatched: isCalm && options.isWatched(), hasCareAnswered: care.isAnswered };
    const scene = advance(tale, snapshot, { plan, facts });
    const crashScene = advanceCrashTale(crashTale, snapshot, { plan: crashPlan, facts });
    tale = scene.tale;
    crashTale = crashScene.tale;
    for (const told of [...scene.lines, ...crashScene.lines, ...care.take()]) options.tell(told, snapshot.at);
    for (const { act, told } of [...scene.deeds, ...crashScene.deeds]) {
      if (told !== undefined) options.tell(told, snapshot.at);
      await play(act, options);
    }
    if (tale.phase === 'over' && crashTale.phase === 'over') {
      options.tell(line('the end: what was seen of what the watchdogs are for', '', 'act'), snapshot.at);
      return [...findings(tale.evidence, plan), ...crashFindings(crashTale.evidence, crashPlan)];
    }
    await clock.sleep(lookEveryMs, signal);
  }
};

export const tellFindings = (list: readonly Finding[]): readonly Line[] =>
  list.map(({ seen, about, text }) => line(`${seen ? '[seen]' : '[NOT SEEN]'} ${text}`, about, seen ? 'good' : 'bad'));
