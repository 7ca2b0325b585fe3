import { viewOf } from '../client-views.ts';
import type { ProcessName, SimEvent } from '../history.ts';
import { type Model, type ShootModel, sentAtOf } from '../model.ts';
import type { Rules } from '../rules.ts';
import { electionSettings } from '../../harness/index.ts';
import { type Known, stateful, stateless } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** Time from the threshold in which only the leader may act. */
const leaderTimeMs = 3_000;
/** Time without a renewal after which a kubelet is silent in trigger mode. */
const triggerMs = 15_000;
const fewestSilent = 3;
/** Resolution of the API server's stamp, by which leases are as old as they are. */
const resolutionMs = 1_000;

const leadsAt = (process: ProcessName, sentAt: number, { leader }: Model): boolean =>
  sentAt - (leader.renewals.get(process) ?? Number.NEGATIVE_INFINITY) < electionSettings(true).renewDeadlineMs;

/** Returns the scale-down if a process without leadership has written it, else undefined. */
const downWithoutLead = (event: SimEvent, { model, rules }: Known) => {
  const write = watchdogWrite(event);
  if (write?.direction !== 'down' || !rules.plan.elected) return undefined;
  const sentAt = sentAtOf(model, write.writer);
  return leadsAt(write.writer.process, sentAt, model) ? undefined : { write, sentAt };
};

/** Returns the earliest time at which any set of nodes with these leases could have crossed a threshold. */
const crossedAt = (name: string, leases: ShootModel['leases'], { plan, ...rules }: Rules): number => {
  const changes = [...leases.values()].toSorted((a, b) => a - b);
  const latest = changes.at(-1) ?? Number.POSITIVE_INFINITY;
  const expired = (changes[1] ?? Number.POSITIVE_INFINITY) + rules.limitMs(name);
  const silent =
    changes.length < fewestSilent ? Number.POSITIVE_INFINITY : (changes[2] ?? latest) + rules.allSilentMs(name);
  const triggered = plan.outside === 'trigger' ? (changes[1] ?? latest) + triggerMs : Number.POSITIVE_INFINITY;
  return Math.min(expired, silent, triggered);
};

/** A standby scales down only what the leader has left up for 3 s after the threshold. */
export const inLeadersPlace = stateless('a standby acts only in the place of the leader', (event, known) => {
  const { model, views, rules } = known;
  const { write, sentAt } = downWithoutLead(event, known) ?? {};
  if (write === undefined || sentAt === undefined) return undefined;
  const shoot = model.shoots.get(write.shoot);
  if (shoot === undefined) return undefined;
  const what = `${write.shoot}: ${write.name} was scaled down by process ${write.writer.process}, which does not lead,`;
  if (shoot.isSkewed) return undefined;
  const { complete } = viewOf(views, write.writer.process, write.shoot);
  // The data that the standby had received counts: a kubelet may have renewed since.
  const { leases } = complete.find(({ knownAt }) => knownAt <= sentAt) ?? shoot;
  const lateMs = sentAt - crossedAt(write.shoot, leases, rules);
  return lateMs >= leaderTimeMs - resolutionMs
    ? undefined
    : `${what} ${(lateMs / 1_000).toFixed(1)} s after the threshold`;
});

/** The last restoration of a Deployment: its time and its writer. */
interface Restored {
  readonly at: number;
  readonly by: ProcessName;
  /** Time of the first scale-up in its shoot since the last scale-down there. */
  readonly begunAt: number;
}

interface Seen {
  readonly restored: ReadonlyMap<string, Restored>;
  /** Time of the first scale-up since the last scale-down, by shoot. */
  readonly begunAt: ReadonlyMap<string, number>;
}

const judgeSecond = (event: SimEvent, known: Known, restored: Restored | undefined): string | undefined => {
  const { model, views } = known;
  const write = watchdogWrite(event);
  if (write?.direction !== 'down' || restored === undefined) return undefined;
  const { writer, shoot, name } = write;
  const sentAt = sentAtOf(model, write.writer);
  const observations = viewOf(views, writer.process, shoot).complete.filter(({ knownAt }) => knownAt <= sentAt);
  const what = `${shoot}: ${name} was scaled down by process ${writer.process}`;
  // A process decides on its own restoration when that begins, and may reverse it because of later observations.
  const decidedAt = restored.by === writer.process ? restored.begunAt : restored.at;
  if (!observations.some(({ servedAt }) => servedAt >= decidedAt)) {
    return `${what} on evidence from before its restoration`;
  }
  return undefined;
};

/** No process scales a restored Deployment down again on evidence from before. */
export const noSecondThoughts = stateful<Seen>(
  'not down again on old evidence',
  { restored: new Map(), begunAt: new Map() },
  (state, event, known) => {
    const write = watchdogWrite(event);
    if (write === undefined || write.direction === 'marks') return { state };
    const key = `${write.shoot}/${write.name}`;
    if (write.direction === 'down') {
      const problem = judgeSecond(event, known, state.restored.get(key));
      const begunAt = new Map([...state.begunAt].filter(([shoot]) => shoot !== write.shoot));
      return { state: { ...state, begunAt }, problem };
    }
    const { at } = known.model;
    const begunAt = state.begunAt.get(write.shoot) ?? at;
    const restored = { at, by: write.writer.process, begunAt };
    return {
      state: {
        ...state,
        restored: new Map(state.restored).set(key, restored),
        begunAt: new Map(state.begunAt).set(write.shoot, begunAt),
      },
    };
  },
);
