import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import { simKinds } from '../apiserver/index.ts';
import type { FaultRule } from '../network/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import { startWrongClocks } from './wrong-clocks.ts';

export type FaultName =
  | 'lb'
  | 'nat'
  | 'shoot-lb'
  | 'api-server'
  | 'seed-slow'
  | 'clock-skew'
  | 'restart'
  | 'leader-dies'
  | 'late-kubelets'
  | 'flapping'
  | 'none';

/** Effects of a fault between the beginning and the end of an outage. */
export interface RehearsedFault {
  readonly title: string;
  /** Shoots that the fault affects; `one` is the first. */
  readonly strikes: 'all' | 'one' | 'none';
  /** Share of the nodes of an affected shoot that are cut off; their number is rounded up. */
  readonly share: number;
  /** True if the public address of the API server is unreachable too, not only from the nodes. */
  readonly breaksPublicWay?: true;
  readonly downsApiServers?: true;
  readonly slowsSeed?: true;
  /** True if the clocks of nodes are wrong, all the time and not only during the outage. */
  readonly skewsClocks?: true;
  /** True if the watchdog is restarted in the middle of the outage. */
  readonly restartsWatchdog?: true;
  /** True if there are two replicas, and the leader is killed shortly before the threshold. */
  readonly killsLeader?: true;
  /** True if half of the kubelets reconnect later than the others. */
  readonly delaysKubelets?: true;
  /** True if the network path recovers for a moment, again and again. */
  readonly flaps?: true;
}

const everybody = { strikes: 'all', share: 1, breaksPublicWay: true } as const;

export const rehearsedFaults: Readonly<Record<FaultName, RehearsedFault>> = {
  lb: { ...everybody, title: 'the load balancer of all shoots fails' },
  nat: { strikes: 'all', share: 0.8, title: 'a NAT gateway fails: 4 of 5 nodes of each shoot are cut off' },
  'shoot-lb': { ...everybody, strikes: 'one', title: 'the load balancer of one shoot fails' },
  'api-server': { strikes: 'all', share: 0, downsApiServers: true, title: 'the API servers of all shoots are down' },
  'seed-slow': { ...everybody, slowsSeed: true, title: "all load balancers fail, and the seed's API server is slow" },
  'clock-skew': {
    ...everybody,
    skewsClocks: true,
    title: 'all load balancers fail, and the clocks of all nodes are wrong by 10m',
  },
  restart: { ...everybody, restartsWatchdog: true, title: 'all load balancers fail, and the watchdog is restarted' },
  'leader-dies': {
    ...everybody,
    killsLeader: true,
    title: 'all load balancers fail, and the leader of two replicas dies 18 s later',
  },
  'late-kubelets': {
    ...everybody,
    delaysKubelets: true,
    title: 'all load balancers fail, and half of the kubelets come back a minute late',
  },
  flapping: { ...everybody, flaps: true, title: 'the load balancer of all shoots fails for 35 s of every 45 s' },
  none: { strikes: 'none', share: 0, title: 'nothing fails' },
};

/** Delay of each request that the slow seed accepts, in milliseconds. */
const slowByMs = 500;
/** Share of the requests other than watches that the slow seed rejects, with this `Retry-After` in seconds. */
const refusedShare = 1 / 5;
const retryAfter = 1;

/** Makes the seed's API server slow and overloaded. Rejections are random: in a fixed order, retries could be rejected again and again. */
export const slowSeed =
  (random: Random): FaultRule =>
  ({ query }) =>
    query?.watch !== 'true' && random.next() < refusedShare ? { status: 429, retryAfter } : { delayMs: slowByMs };

export const affectedShoots = ({ shoots }: World, { strikes }: RehearsedFault): readonly WorldShoot[] =>
  strikes === 'all' ? shoots : shoots.slice(0, strikes === 'one' ? 1 : 0);

/** Returns the names of the nodes of an affected shoot that are cut off. */
export const cutNodes = ({ store }: WorldShoot, { share }: RehearsedFault): readonly string[] => {
  const nodes = store.list(simKinds.Node).map(({ metadata }) => metadata.name);
  return nodes.slice(0, Math.ceil(nodes.length * share));
};

const injectFault = (shoot: WorldShoot, fault: RehearsedFault): void => {
  if (fault.downsApiServers === true) shoot.api.setReachability('refused');
  shoot.cutKubelets(cutNodes(shoot, fault));
  if (fault.breaksPublicWay === true) shoot.api.publicAddress.setReachability('silent');
};

/** Times for which a flapping path is silent, and then open, in milliseconds. */
const silentMs = 35_000;
const openMs = 10_000;
/** Time from the end of the outage until late kubelets reconnect, in milliseconds. */
const lateMs = 60_000;

const mend = (shoot: WorldShoot): void => {
  shoot.api.setReachability('open');
  shoot.restoreKubelets();
  shoot.api.publicAddress.setReachability('open');
};

/** The effects of a fault on the shoots, not on the watchdogs or their requests to the seed. */
export interface ActiveFault {
  begin(): void;
  end(): void;
}

/** Prepares a fault. Wrong clocks start at once, all else starts with `begin`. */
export const createActiveFault = (world: World, clock: Clock, fault: RehearsedFault): ActiveFault => {
  if (fault.skewsClocks === true) for (const shoot of world.shoots) startWrongClocks(shoot, clock);
  const struck = affectedShoots(world, fault);
  let stopFlapping = (): void => undefined;
  const cutAll = (): void => {
    for (const shoot of struck) injectFault(shoot, fault);
    if (fault.flaps === true) stopFlapping = clock.timer(silentMs, openAll);
  };
  const openAll = (): void => {
    for (const shoot of struck) mend(shoot);
    if (fault.flaps === true) stopFlapping = clock.timer(openMs, cutAll);
  };
  return {
    begin: cutAll,
    end: () => {
      stopFlapping();
      for (const shoot of struck) {
        const nodes = cutNodes(shoot, fault);
        mend(shoot);
        if (fault.delaysKubelets !== true) continue;
        shoot.cutKubelets(nodes.slice(Math.ceil(nodes.length / 2)));
        clock.timer(lateMs, () => shoot.restoreKubelets());
      }
    },
  };
};
