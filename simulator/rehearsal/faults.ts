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

/** What goes wrong between the beginning and the end of an outage. */
export interface RehearsedFault {
  readonly title: string;
  /** Which shoots; the first is the one. */
  readonly strikes: 'all' | 'one' | 'none';
  /** Of the nodes of a struck shoot, how many are cut off; rounded up. */
  readonly share: number;
  /** The public way to the API server breaks too, not only that of the nodes. */
  readonly breaksPublicWay?: true;
  readonly downsApiServers?: true;
  readonly slowsSeed?: true;
  /** All the time, and not only during the outage. */
  readonly skewsClocks?: true;
  /** In the middle of the outage. */
  readonly restartsWatchdog?: true;
  /** One of two replicas, shortly before the threshold. */
  readonly killsLeader?: true;
  /** Half of the kubelets come back later than the others. */
  readonly delaysKubelets?: true;
  /** The way comes back for a moment, again and again. */
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

/** Every request to the seed takes so long, in milliseconds. */
const slowByMs = 500;
/** Of the requests that are not watches, so many are refused with this `Retry-After`, in seconds. */
const refusedShare = 1 / 5;
const retryAfter = 1;

/** A seed whose API server is slow and has too much to do. Refusals are random: in a fixed order, repeated requests would meet them again. */
export const slowSeed =
  (random: Random): FaultRule =>
  ({ query }) =>
    query?.watch !== 'true' && random.next() < refusedShare ? { status: 429, retryAfter } : { delayMs: slowByMs };

export const struckShoots = ({ shoots }: World, { strikes }: RehearsedFault): readonly WorldShoot[] =>
  strikes === 'all' ? shoots : shoots.slice(0, strikes === 'one' ? 1 : 0);

/** Nodes of a struck shoot that are cut off. */
export const cutNodes = ({ store }: WorldShoot, { share }: RehearsedFault): readonly string[] => {
  const nodes = store.list(simKinds.Node).map(({ metadata }) => metadata.name);
  return nodes.slice(0, Math.ceil(nodes.length * share));
};

const strike = (shoot: WorldShoot, fault: RehearsedFault): void => {
  if (fault.downsApiServers === true) shoot.api.setReachability('refused');
  shoot.cutKubelets(cutNodes(shoot, fault));
  if (fault.breaksPublicWay === true) shoot.api.publicWay.setReachability('silent');
};

/** A path that flaps is silent for so long, and open for so long, in milliseconds. */
const silentMs = 35_000;
const openMs = 10_000;
/** Of kubelets that come back late, in milliseconds. */
const lateMs = 60_000;

const mend = (shoot: WorldShoot): void => {
  shoot.api.setReachability('open');
  shoot.restoreKubelets();
  shoot.api.publicWay.setReachability('open');
};

/** What of a fault happens in the world itself. */
export interface Trouble {
  begin(): void;
  end(): void;
}

/** Sets wrong clocks at once; the rest waits for `begin`. */
export const createTrouble = (world: World, clock: Clock, fault: RehearsedFault): Trouble => {
  if (fault.skewsClocks === true) for (const shoot of world.shoots) startWrongClocks(shoot, clock);
  const struck = struckShoots(world, fault);
  let stopFlapping = (): void => undefined;
  const cutAll = (): void => {
    for (const shoot of struck) strike(shoot, fault);
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
