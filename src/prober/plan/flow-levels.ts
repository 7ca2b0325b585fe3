import type { Flow, FlowInput, SnapshotOf } from './flow-state.ts';
import { type Operation, isAlreadyAtZero, isOver, letsNextLevelStart } from './operation.ts';

/** Longest time that a scale-up waits for interrupted watches, in milliseconds. */
const longestInterruptionMs = 90_000;

/**
 * True if a scale-up must wait for interrupted watches: the shoot may have been hibernated, and resources that the caches show as up may be down. A flow
 * that no later verdict can confirm (at the end of probing) reads from the API server instead.
 */
export const mustAwaitWatches = (
  { verdictMaxAgeMs }: Pick<Flow, 'verdictMaxAgeMs'>,
  { watchesInterruptedMs }: Pick<FlowInput, 'watchesInterruptedMs'>,
): boolean =>
  Number.isFinite(verdictMaxAgeMs) && watchesInterruptedMs > 0 && watchesInterruptedMs < longestInterruptionMs;

/**
 * After its initial delay, a level of a scale-down may delay the next one by at most this time, in milliseconds. All levels together have the 10 s between the
 * expiry age (30 s) and KCM's grace period (40 s).
 */
export const downLevelLimitMs = 3_000;

const currentLevel = (flow: Flow): readonly Operation[] =>
  flow.operations.filter(({ info }) => info.level === flow.levels[flow.startedLevels - 1]);

export const isVerdictRecent = ({ verdictAt, verdictMaxAgeMs }: Flow, now: number): boolean =>
  now - verdictAt <= verdictMaxAgeMs;

/** True if the flow may still scale: delays, timeouts and retries within a level can outlast its verdict and the watches that it relies on. */
export const mayScale = (flow: Flow, input: FlowInput): boolean => {
  switch (flow.direction) {
    case 'down':
      return flow.wasSuspended !== true;
    case 'up':
      return isVerdictRecent(flow, input.now) && !mustAwaitWatches(flow, input);
    case 'release':
      return true;
  }
};

/**
 * A scale-up waits until the level is over, and needs a fresh verdict: MCM, started before KCM is ready, would replace healthy machines. A scale-down waits
 * too, but not for resources that have used up their attempts, and only until `levelCutoff`: one that cannot be scaled must not leave others unprotected.
 */
export const mayStartNextLevel = (flow: Flow, input: FlowInput): boolean => {
  if (flow.startedLevels === flow.levels.length) return false;
  const level = currentLevel(flow);
  switch (flow.direction) {
    case 'down':
      if (!mayScale(flow, input)) return false;
      return level.every(letsNextLevelStart) || input.now >= levelCutoff(flow, input.snapshotOf);
    case 'up':
      return level.every(isOver) && mayScale(flow, input);
    case 'release':
      return level.every(isOver);
  }
};

/** The limit starts after the initial delay, which the operator configured; a resource that is at 0 already has no delay. */
export const levelCutoff = (flow: Flow, snapshotOf: SnapshotOf): number =>
  flow.levelStartedAt +
  Math.max(
    0,
    ...currentLevel(flow)
      .filter((operation) => !isOver(operation))
      .map((operation) => {
        const { initialDelayMs, timeoutMs } = operation.info;
        const delayMs = isAlreadyAtZero(operation, snapshotOf(operation.key)) ? 0 : initialDelayMs;
        return delayMs + Math.min(timeoutMs, downLevelLimitMs);
      }),
  );
