import { describe, expect, it } from 'vitest';
import { failedVerdict } from '../testing/cases.ts';
import { protectionState } from './protection-state.ts';

type Input = Parameters<typeof protectionState>[0];

const quiet: Input = { isAnyHeld: false, isPaused: false, isFlapping: false, isDryRun: false };
const healthy = { kind: 'healthy', scope: 'all' } as const;
const unhealthy = { kind: 'unhealthy', crossedAt: 0 } as const;
const landing = { kind: 'landing', renewed: 1, awaited: 2, until: 5 } as const;
const confirming = { kind: 'confirming' } as const;
const skipped = { kind: 'skipped' } as const;
const [down, up, release] = [{ direction: 'down' }, { direction: 'up' }, { direction: 'release' }] as const;

describe('the state of a shoot', () => {
  it.each<[input: Partial<Input>, state: ReturnType<typeof protectionState>]>([
    // Before the first verdict.
    [{}, 'unknown'],
    [{ isPaused: true }, 'paused'],
    [{ isAnyHeld: true }, 'protected'],
    // Nothing held.
    [{ verdict: healthy }, 'healthy'],
    [{ verdict: healthy, isFlapping: true }, 'flapping'],
    [{ verdict: healthy, isPaused: true }, 'paused'],
    [{ verdict: skipped, counts: { candidates: 1, expired: 0 } }, 'healthy'],
    [{ verdict: skipped, counts: { candidates: 1, expired: 1 } }, 'confirming'],
    [{ verdict: confirming }, 'confirming'],
    [{ verdict: failedVerdict }, 'unreachable'],
    [{ verdict: failedVerdict, isFlapping: true }, 'unreachable'],
    [{ verdict: unhealthy }, 'confirming'],
    [{ verdict: unhealthy, scaling: down }, 'confirming'],
    [{ verdict: unhealthy, isPaused: true }, 'paused'],
    [{ verdict: unhealthy, isDryRun: true }, 'protected'],
    [{ verdict: landing, isDryRun: true }, 'landing'],
    // Something held.
    [{ verdict: unhealthy, isAnyHeld: true }, 'protected'],
    [{ verdict: unhealthy, isAnyHeld: true, scaling: down }, 'protected'],
    [{ verdict: unhealthy, isAnyHeld: true, isPaused: true }, 'protected'],
    [{ verdict: failedVerdict, isAnyHeld: true }, 'protected'],
    [{ verdict: skipped, isAnyHeld: true }, 'protected'],
    [{ verdict: confirming, isAnyHeld: true }, 'protected'],
    [{ verdict: landing, isAnyHeld: true }, 'landing'],
    [{ verdict: healthy, isAnyHeld: true }, 'restoring'],
    [{ verdict: healthy, isAnyHeld: true, scaling: up }, 'restoring'],
    [{ verdict: failedVerdict, isAnyHeld: true, scaling: up }, 'restoring'],
    [{ isAnyHeld: true, scaling: release }, 'restoring'],
  ])('%j is %s', (input, state) => {
    expect(protectionState({ ...quiet, ...input })).toBe(state);
  });
});
