import type { DeploymentModel } from '../deployment-model.ts';
import type { SimEvent } from '../history.ts';
import { type Model, sentAtOf } from '../model.ts';
import { viewOf } from '../client-views.ts';
import { evidenceIn } from './evidence.ts';
import { type Known, stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** Attempts of a process to scale a Deployment, since it last scaled it up, or since another writer reverted that. */
interface Attempts {
  readonly since: number;
  readonly failures: number;
}

/** Attempts by process, shoot and name. */
type AttemptsByTarget = ReadonlyMap<string, Attempts>;

/** Number of failed attempts after which an operation is over. One response with a final status is enough. */
const mostAttempts = 3;
const finalStatuses = [400, 401, 403, 404, 422];

const noteAttempt = (
  attempts: AttemptsByTarget,
  event: Extract<SimEvent, { kind: 'request' }> & { readonly stage: 'sent' | 'answered' | 'failed' },
  model: Model,
): AttemptsByTarget => {
  const { exchange, shoot = '', name = '', stage, status = 0 } = event;
  const key = `${exchange.process}/${shoot}/${name}`;
  const known = attempts.get(key) ?? { since: event.at, failures: 0 };
  if (stage === 'sent') {
    const { replicas = 0, countSince = 0 } = model.shoots.get(shoot)?.deployments.get(name) ?? {};
    const isUndone = replicas > 0 && countSince > known.since;
    return new Map(attempts).set(key, isUndone ? { ...known, since: event.at } : known);
  }
  if (stage === 'answered' && status < 400) return attempts;
  const failures = finalStatuses.includes(status) ? mostAttempts : known.failures + 1;
  return new Map(attempts).set(key, { ...known, failures });
};

/** Maximum time by which a level of a scale-down delays the next one. */
const downLevelMs = 3_000;
/** Maximum lag of a watch behind an operator's annotation, faults of the network included. */
const staleMs = 60_000;

const isExcused = (known: DeploymentModel | undefined, at: number): known is undefined =>
  known === undefined || known.isIgnored || at - known.ignoredAt <= staleMs;

const lowerLevels = (levels: readonly (readonly string[])[], name: string): readonly string[] => {
  const own = levels.findIndex((names) => names.includes(name));
  return levels.slice(0, Math.max(0, own)).flat();
};

interface Case {
  readonly write: WatchdogWrite;
  readonly sentAt: number;
  readonly known: Known;
  readonly attempts: AttemptsByTarget;
}

const stateIn = ({ model }: Known, shoot: string, name: string): DeploymentModel | undefined =>
  model.shoots.get(shoot)?.deployments.get(name);

const tooEarlyDown = ({ write, sentAt, known, attempts }: Case): string | undefined =>
  lowerLevels(known.rules.downLevels, write.name).find((lower) => {
    const state = stateIn(known, write.shoot, lower);
    if (isExcused(state, sentAt)) return false;
    const lowerAttempts = attempts.get(`${write.writer.process}/${write.shoot}/${lower}`);
    if (lowerAttempts !== undefined && lowerAttempts.failures >= mostAttempts) return false;
    if (state.replicas === 0) {
      const since = Math.min(state.countSince, lowerAttempts?.since ?? Number.POSITIVE_INFINITY);
      return state.ready > 0 && sentAt - since < downLevelMs;
    }
    return lowerAttempts === undefined || sentAt - lowerAttempts.since < downLevelMs;
  });

/** True if the process saw a single candidate: then it restores only held Deployments, not one that an operator took over and gave back at 0. */
const sawOneCandidate = ({ write, known }: Case): boolean => {
  const { shoot: name, writer } = write;
  const { model, views, rules } = known;
  const shoot = model.shoots.get(name);
  const view = viewOf(views, writer.process, name);
  return (
    shoot !== undefined &&
    view.complete.some((observation) => evidenceIn(observation, { name, shoot, view, rules }).candidates === 1)
  );
};

const tooEarlyUp = (given: Case): string | undefined => {
  const { write, sentAt, known } = given;
  // A shoot without workers has no nodes, so the order does not matter.
  if (known.model.shoots.get(write.shoot)?.phase === 'restore') return undefined;
  return lowerLevels(known.rules.upLevels, write.name).find((lower) => {
    const state = stateIn(known, write.shoot, lower);
    if (isExcused(state, sentAt) || (!state.isHeld && state.replicas === 0 && sawOneCandidate(given))) return false;
    return state.replicas === 0 || state.readyAt < state.countSince;
  });
};

/** Each level waits for the previous one: without limit when scaling up, for at most three seconds when scaling down. */
export const levels = stateful<AttemptsByTarget>('levels in order', new Map(), (attempts, event, known) => {
  if (event.kind === 'request') {
    const { stage, resource } = event;
    const isAttempt = stage !== 'served' && resource === 'deployments';
    return { state: isAttempt ? noteAttempt(attempts, { ...event, stage }, known.model) : attempts };
  }
  const write = watchdogWrite(event);
  if (write === undefined || write.direction === 'marks') return { state: attempts };
  const { shoot, name, writer, direction } = write;
  const rest = new Map(attempts);
  const key = `${writer.process}/${shoot}/${name}`;
  // A success after many attempts does not delay the next level again.
  if (direction === 'up') rest.delete(key);
  const sentAt = sentAtOf(known.model, writer);
  const given = { write, sentAt, known, attempts };
  const early = direction === 'down' ? tooEarlyDown(given) : tooEarlyUp(given);
  const problem =
    early === undefined ? undefined : `${shoot}: ${name} was scaled ${direction} before ${early} was done`;
  return { state: rest, problem };
});
