import { gardenSettings } from '../../harness/index.ts';
import { exchangeKey } from '../model.ts';
import { type Look, viewOf } from '../client-views.ts';
import { hasCrossed, read } from './evidence.ts';
import { type Known, stateful } from './invariant.ts';
import { type WatchdogWrite, watchdogWrite } from './scaling.ts';

/** Of a kubelet that renews every 10 s: it has missed a renewal. */
const lateMs = 15_000;
const toleranceMs = 100;

/** What is known of the outage of a shoot. */
interface Outage {
  /** The first scale-down. */
  readonly since: number;
  /** The restoration has begun. */
  readonly hasLanded: boolean;
}

interface Landings {
  readonly outages: ReadonlyMap<string, Outage>;
  /** By process and shoot: until when its own observations said that the outage lasts, or when they began. */
  readonly lasted: ReadonlyMap<string, number>;
}

const lastsIn = (look: Look, name: string, { model, views, rules }: Known, key: string): boolean => {
  const shoot = model.shoots.get(name);
  const view = views.get(key);
  if (shoot === undefined || view === undefined) return false;
  // Without what is forgiven after downtime: that a lease counts anew is no return.
  const seen = read(look, { name, shoot, view: { ...view, downUntil: Number.NEGATIVE_INFINITY }, rules });
  return seen.isAllSilent || hasCrossed(seen, rules);
};

const noteLooks = (lasted: ReadonlyMap<string, number>, name: string, key: string, known: Known) => {
  const look = known.views.get(key)?.complete[0];
  if (look === undefined || (lasted.has(key) && !lastsIn(look, name, known, key))) return lasted;
  return new Map(lasted).set(key, look.knownAt);
};

/** Else the outage before has ended without a restoration of ours: its owner has taken the shoot over, as Gardener one that it hibernates. */
const holdsAnother = ({ shoot, name }: WatchdogWrite, { model }: Known): boolean =>
  [...(model.shoots.get(shoot)?.deployments ?? [])].some(([other, { isHeld }]) => other !== name && isHeld);

/** Candidates that were alive when the first Deployment went down, and are late in this look. */
const lateIn = (look: Look, { since }: Outage, limitMs: number): readonly string[] =>
  [...look.leases]
    .filter(([node, changedAt]) => {
      const isCandidate = look.nodes?.get(node)?.isCandidate === true && look.machines?.has(node) === true;
      return isCandidate && changedAt > since - limitMs && look.servedAt - changedAt > lateMs + toleranceMs;
    })
    .map(([node]) => node);

/** Why this restoration comes too early; undefined: it does not, or nothing can be said of it. */
const whyEarly = (
  write: WatchdogWrite,
  { outage, lasted }: Pick<Landings, 'lasted'> & { readonly outage: Outage },
  known: Known,
): string | undefined => {
  const { shoot: name, writer } = write;
  const { model, views, rules } = known;
  const shoot = model.shoots.get(name);
  if (shoot?.phase !== 'run' || shoot.isSkewed) return undefined;
  const sentAt = model.exchanges.get(exchangeKey(writer))?.sentAt ?? model.at;
  const look = viewOf(views, writer.life, name).complete.find(({ knownAt }) => knownAt <= sentAt);
  if (look === undefined) return undefined;
  const waitedMs = look.knownAt - (lasted.get(`${writer.life}/${name}`) ?? look.knownAt);
  const late = lateIn(look, outage, rules.limitMs(name));
  if (late.length === 0 || waitedMs >= gardenSettings.landingTimeoutMs - toleranceMs) return undefined;
  return `${name}: ${write.name} was restored ${(waitedMs / 1_000).toFixed(1)} s after the outage, without ${late.join(', ')}`;
};

/**
 * What is held is restored only when all that were alive before the outage renew again, or `landingTimeout` after the outage at the earliest. Where clocks are
 * wrong a renewal may be seen late, so nothing is said of these.
 */
export const landing = stateful<Landings>(
  'lands before it restores',
  { outages: new Map(), lasted: new Map() },
  (state, event, known) => {
    if (event.kind === 'request' && event.stage === 'answered' && event.shoot !== undefined) {
      const key = `${event.exchange.life}/${event.shoot}`;
      return { state: { ...state, lasted: noteLooks(state.lasted, event.shoot, key, known) } };
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
    // Only the mark of what an operator has taken over is removed, in the outage or when the restoration begins.
    if (direction === 'marks') {
      const mayHaveLanded = before.isHeld && !after.isHeld && whyEarly(write, { outage, lasted }, known) === undefined;
      return { state: mayHaveLanded ? landed : state };
    }
    // What an operator had taken over and given back has no mark.
    if (!before.isHeld && !holdsAnother(write, known)) return { state };
    return { state: landed, problem: whyEarly(write, { outage, lasted }, known) };
  },
);
