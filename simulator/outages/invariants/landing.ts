import { gardenSettings } from '../../harness/index.ts';
import { sentAtOf } from '../model.ts';
import { type Observation, viewOf } from '../client-views.ts';
import { hasCrossed, evidenceIn } from './evidence.ts';
import { type Known, stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** Age of a lease at which its kubelet is late: it renews every 10 s, so it has missed a renewal. */
const lateMs = 15_000;
const toleranceMs = 100;

/** The outage of a shoot, as scale-downs and restorations show it. */
interface Outage {
  /** Time of the first scale-down. */
  readonly since: number;
  /** True if the restoration has begun. */
  readonly hasLanded: boolean;
}

interface Landings {
  readonly outages: ReadonlyMap<string, Outage>;
  /** Time of the last observation that still showed the outage, or else of the first observation, by process and shoot. */
  readonly lasted: ReadonlyMap<string, number>;
}

const lastsIn = (observation: Observation, name: string, { model, views, rules }: Known, key: string): boolean => {
  const shoot = model.shoots.get(name);
  const view = views.get(key);
  if (shoot === undefined || view === undefined) return false;
  // Without the reset after downtime: a lease whose age starts anew does not show that its kubelet is back.
  const seen = evidenceIn(observation, { name, shoot, view: { ...view, downUntil: Number.NEGATIVE_INFINITY }, rules });
  return seen.isAllSilent || hasCrossed(seen, rules);
};

const noteObservations = (lasted: ReadonlyMap<string, number>, name: string, key: string, known: Known) => {
  const latest = known.views.get(key)?.complete[0];
  if (latest === undefined || (lasted.has(key) && !lastsIn(latest, name, known, key))) return lasted;
  return new Map(lasted).set(key, latest.knownAt);
};

/** True if another Deployment is held. If none is, the last outage ended without our restoration: its owner took over, as Gardener does to hibernate. */
const holdsAnother = ({ shoot, name }: WatchdogWrite, { model }: Known): boolean =>
  [...(model.shoots.get(shoot)?.deployments ?? [])].some(([other, { isHeld }]) => other !== name && isHeld);

/** Returns the candidates that were alive at the first scale-down, and are late in this observation. */
const lateIn = (observation: Observation, { since }: Outage, limitMs: number): readonly string[] =>
  [...observation.leases]
    .filter(([node, changedAt]) => {
      const isCandidate =
        observation.nodes?.get(node)?.isCandidate === true && observation.machines?.has(node) === true;
      return isCandidate && changedAt > since - limitMs && observation.servedAt - changedAt > lateMs + toleranceMs;
    })
    .map(([node]) => node);

/** Returns why a restoration is too early; undefined if it is not, or if that cannot be judged. */
const whyEarly = (
  write: WatchdogWrite,
  { outage, lasted }: Pick<Landings, 'lasted'> & { readonly outage: Outage },
  known: Known,
): string | undefined => {
  const { shoot: name, writer } = write;
  const { model, views, rules } = known;
  const shoot = model.shoots.get(name);
  if (shoot?.phase !== 'run' || shoot.isSkewed) return undefined;
  const sentAt = sentAtOf(model, writer);
  const observation = viewOf(views, writer.process, name).complete.find(({ knownAt }) => knownAt <= sentAt);
  if (observation === undefined) return undefined;
  const waitedMs = observation.knownAt - (lasted.get(`${writer.process}/${name}`) ?? observation.knownAt);
  const late = lateIn(observation, outage, rules.limitMs(name));
  if (late.length === 0 || waitedMs >= gardenSettings.landingTimeoutMs - toleranceMs) return undefined;
  return `${name}: ${write.name} was restored ${(waitedMs / 1_000).toFixed(1)} s after the outage, without ${late.join(', ')}`;
};

/**
 * Held resources are restored only when all nodes that were alive before the outage renew again, or `landingTimeout` after the outage at the
 * earliest. Shoots with wrong clocks are not judged, because a renewal may be seen late.
 */
export const landing = stateful<Landings>(
  'lands before it restores',
  { outages: new Map(), lasted: new Map() },
  (state, event, known) => {
    if (event.kind === 'request' && event.stage === 'answered' && event.shoot !== undefined) {
      const key = `${event.exchange.process}/${event.shoot}`;
      return { state: { ...state, lasted: noteObservations(state.lasted, event.shoot, key, known) } };
    }
    const write = watchdogWrite(event);
    if (write === undefined) return { state };
    const { shoot: name, before, after, direction } = write;
    const outage = state.outages.get(name);
    if (direction === 'down') {
      if (outage?.hasLanded === false && holdsAnother(write, known)) return { state };
      return {
        state: { ...state, outages: new Map(state.outages).set(name, { since: known.model.at, hasLanded: false }) },
      };
    }
    if (outage === undefined || outage.hasLanded) return { state };
    const { lasted } = state;
    const landed = { ...state, outages: new Map(state.outages).set(name, { ...outage, hasLanded: true }) };
    // If an operator has taken over a Deployment, only its mark is removed, during the outage or when the restoration begins.
    if (direction === 'marks') {
      const mayHaveLanded = before.isHeld && !after.isHeld && whyEarly(write, { outage, lasted }, known) === undefined;
      return { state: mayHaveLanded ? landed : state };
    }
    // A Deployment that an operator had taken over and given back has no mark.
    if (!before.isHeld && !holdsAnother(write, known)) return { state };
    return { state: landed, problem: whyEarly(write, { outage, lasted }, known) };
  },
);
