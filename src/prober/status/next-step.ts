import type { Scaling } from '../plan/scaling.ts';
import { isOver } from '../plan/operation.ts';
import type { ShootProberState } from '../plan/shoot-state.ts';
import type { PauseInForce, ProtectionState } from './schema.ts';

export interface NextStep {
  readonly text: string;
  /** Monotonic instant in milliseconds. */
  readonly at?: number;
}

interface NextInput {
  readonly state: ShootProberState;
  readonly protection: ProtectionState;
  readonly pause?: PauseInForce | undefined;
  /** True if an outage continues, and nothing is held, or not all. */
  readonly isUnmet?: boolean;
}

const doing = {
  down: 'scaling down',
  up: 'restoring',
  release: 'releasing',
} as const satisfies Readonly<Record<Scaling['direction'], string>>;

const progressOf = ({ direction, operations }: Scaling): string =>
  `${doing[direction]}: ${String(operations.filter(isOver).length)} of ${String(operations.length)} done`;

/** Describes a pause: `until 2026-01-01T14:00:00Z, "LB maintenance" (kim)`. */
export const pauseInWords = ({ until, reason, by }: PauseInForce): string =>
  `until ${until ?? 'it is taken back'}${reason === '' ? '' : `, ${JSON.stringify(reason)}`}${by === '' ? '' : ` (${by})`}`;

/** Describes the next step of a shoot, in words that its time can follow (`in 12 s`). */
export const nextStep = ({ state, protection, pause, isUnmet = false }: NextInput): NextStep => {
  const { verdict, scaling, runStartedAt, nextRunAt: due } = state;
  const atNextProbe = (text: string): NextStep => {
    if (runStartedAt !== undefined) return { text: `${text}, which is under way` };
    return Number.isFinite(due) ? { text, at: due } : { text };
  };
  if (scaling !== undefined) return { text: progressOf(scaling) };
  switch (protection) {
    case 'landing':
      return verdict?.kind === 'landing'
        ? {
            text: `landing: ${String(verdict.renewed)} of ${String(verdict.awaited)} renewed, at the latest`,
            at: verdict.until,
          }
        : atNextProbe('next probe');
    case 'paused':
      return {
        text: `${isUnmet ? 'NOT PROTECTED ' : ''}${pause === undefined ? 'while it is paused' : pauseInWords(pause)}`,
      };
    case 'protected':
      return atNextProbe('held until leases are renewed; next probe');
    case 'restoring':
      return atNextProbe('restores held resources at the next probe');
    case 'confirming':
      return atNextProbe(verdict?.kind === 'unhealthy' ? 'retries the scale-down at the next probe' : 'next probe');
    case 'unknown':
      return atNextProbe('first probe');
    case 'healthy':
    case 'flapping':
    case 'unreachable':
      return atNextProbe('next probe');
  }
};
