import { gardenSettings } from '../../harness/index.ts';
import { kubeControllerManager } from '../../world/index.ts';
import { type Model, renewedMs, type ShootModel } from '../model.ts';
import { thresholdOf } from '../threshold.ts';
import { type Invariant, watchdogWrite } from './invariant.ts';

/** Time from the threshold to KCM at 0: a look at once, or a second one after 2 s, and two levels. The first takes at most 3 s. */
const reactionMs = 5_000;
/** Time that a standby leaves to the leader. */
const leaderTimeMs = 3_000;
/** Number of requests that follow one another in this time: lists, and a write for each level. */
const requests = 5;
/** Returns the time at which the shoot is protected at the latest if no lease changes; Infinity for fewer than two leases. */
const protectedAt = (name: string, { leases }: ShootModel, model: Model): number => {
  const { plan } = model;
  const renewals = model.candidates(name).flatMap((node) => leases.get(node)?.renewedAt ?? []);
  const about = { candidates: renewals.length, graceMs: model.graceMs(name), fraction: Math.max(...model.fractions) };
  const lateMs = reactionMs + (plan.replicas > 1 ? leaderTimeMs : 0) + requests * plan.latencyMs;
  return thresholdOf(renewals, about) + lateMs;
};

/** An outage in which KCM was scaled down. */
interface Outage {
  /** Nodes that renewed until the outage. */
  readonly alive: ReadonlySet<string>;
  readonly heldAt: number;
  /** The last time at which the outage was seen to last. */
  cutUntil: number;
  /** True once a watchdog has restored KCM. One that is being scaled down may still act. */
  isRestored: boolean;
}

/** Returns the time until which KCM gives up no late node: it is restored after `landingTimeout`, and then waits the grace period. */
const landedAt = ({ cutUntil }: Outage, name: string, model: Model): number =>
  cutUntil + gardenSettings.landingTimeoutMs + model.graceMs(name);

/**
 * KCM gives up no node in an outage once the prober can have scaled it down, nor one that is late after the outage. (KCM may act before the
 * prober can if one lease is older than the others by nearly the rest of the grace period.)
 */
export const noNodeLost: Invariant = {
  name: 'no node lost',
  begin: (model) => {
    const outages = new Map<string, Outage>();
    return (event) => {
      const write = watchdogWrite(event);
      const begun = outages.get(write?.shoot ?? '');
      if (write?.direction === 'up' && write.name === kubeControllerManager && begun !== undefined) {
        begun.isRestored = true;
      }
      if (write?.direction === 'down' && write.name === kubeControllerManager) {
        const [leases, limitMs] = [model.shoots.get(write.shoot)?.leases ?? [], model.limitMs(write.shoot)];
        const alive = [...leases].filter(([, { renewedAt }]) => model.at - renewedAt < limitMs + 10_000);
        outages.set(write.shoot, {
          alive: new Set(alive.map(([node]) => node)),
          heldAt: model.at,
          cutUntil: model.at,
          isRestored: false,
        });
      }
      if (event.kind === 'tick') {
        for (const [name, outage] of outages) {
          const shoot = model.shoots.get(name);
          if (shoot !== undefined && protectedAt(name, shoot, model) <= model.at) outage.cutUntil = model.at;
        }
      }
      if (event.kind !== 'node given up' || model.plan.dryRun) return undefined;
      const { shoot: name, node } = event;
      const [shoot, outage] = [model.shoots.get(name), outages.get(name)];
      if (shoot?.phase !== 'run') return undefined;
      const due = protectedAt(name, shoot, model);
      if (due <= model.at && model.excusedUntil(name, due) <= due) return `${name}: node ${node} was given up`;
      if (outage?.isRestored !== true || model.at >= landedAt(outage, name, model)) return undefined;
      const { renewedAt = Number.NEGATIVE_INFINITY } = shoot.leases.get(node) ?? {};
      // One that has renewed since is back: it was cut off anew.
      const isLate = outage.alive.has(node) && renewedAt <= outage.heldAt;
      return isLate && model.excusedUntil(name) <= outage.cutUntil
        ? `${name}: node ${node} was given up while it was late`
        : undefined;
    };
  },
};

/** A kubelet that was silent until this time ago, in milliseconds, may come back between the verdict and the last level: the outage was one. */
const returnedMs = 5_000;
/** The shortest silence that a rule takes for an outage: of all nodes, while the external probe finds the public address unreachable, else half the grace. */
const shortestSilenceMs = (name: string, model: Model): number =>
  model.plan.outside === 'trigger' ? 15_000 : model.graceMs(name) / 2;

/** A verdict rests on this many responses of the shoot, one after the other. */
const responses = 3;

/** Returns how many candidates of a shoot renew their leases, and of how many. */
const renewing = (name: string, { leases }: ShootModel, model: Model) => {
  const { at } = model;
  const unseenMs = returnedMs + responses * model.slownessMs(name);
  const ages = model.candidates(name).flatMap((node) => {
    const lease = leases.get(node);
    if (lease === undefined) return [];
    const { renewedAt, returnedAt, silentSince } = lease;
    const hasJustReturned = at - returnedAt < unseenMs && returnedAt - silentSince >= shortestSilenceMs(name, model);
    return [at - (hasJustReturned ? silentSince : renewedAt)];
  });
  const count = ages.filter((ageMs) => ageMs < renewedMs).length;
  return { count, of: ages.length, isMost: ages.length >= 2 && 1 - count / ages.length < Math.min(...model.fractions) };
};

/**
 * No Deployment is scaled down in a shoot most of whose kubelets renew their leases, whatever the watchdog may have seen. While it does not know the seed, or
 * the Secret of the shoot is missing, it may get no verdict, and a scale-down that began in an outage goes on, also with what carries ignore-scaling no more.
 */
export const noNeedlessScaleDown: Invariant = {
  name: 'no scale-down while kubelets renew',
  begin: (model) => {
    const isUnknown = ({ phase }: ShootModel): boolean => phase === 'missing' || model.at < model.hamperedUntil();
    /** Shoots that were cut off when they and the seed were last known, or later. */
    const cutOff = new Set<string>();
    return (event) => {
      if (event.kind === 'tick') {
        for (const [name, shoot] of model.shoots) {
          if (!renewing(name, shoot, model).isMost) cutOff.add(name);
          else if (!isUnknown(shoot)) cutOff.delete(name);
        }
      }
      const write = watchdogWrite(event);
      const shoot = model.shoots.get(write?.shoot ?? '');
      if (write?.direction !== 'down' || shoot === undefined) return undefined;
      const { count, of, isMost } = renewing(write.shoot, shoot, model);
      if (!isMost || (isUnknown(shoot) && cutOff.has(write.shoot))) return undefined;
      return `${write.shoot}: ${write.name} was scaled down although ${String(count)} of ${String(of)} kubelets renew`;
    };
  },
};
