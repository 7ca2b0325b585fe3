import type { PlannedFault } from '../outages/index.ts';

export type FaultName =
  | 'lb'
  | 'nat'
  | 'shoot-lb'
  | 'api-server'
  | 'seed-slow'
  | 'restart'
  | 'late-kubelets'
  | 'flapping'
  | 'none';

/** The outage of a rehearsal. Times in milliseconds. */
interface Outage {
  readonly at: number;
  readonly forMs: number;
  /** Names of the shoots, and the number of nodes of each. */
  readonly shoots: readonly string[];
  readonly nodes: number;
}

export interface RehearsedFault {
  readonly title: string;
  readonly faultsOf: (outage: Outage) => readonly PlannedFault[];
}

/** Time from the end of a prober to its next start. */
const restartMs = 10_000;
/** Times for which a flapping path is silent, and then open. */
const [silentMs, openMs] = [35_000, 10_000];
/** Time from the end of the outage until late kubelets reconnect. */
const lateMs = 60_000;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

const cut = ({ at, forMs }: Pick<Outage, 'at' | 'forMs'>, shoot?: string): PlannedFault => ({
  ...{ at, forMs },
  fault: { kind: 'load-balancer', shoot, how: 'silent' },
});

export const rehearsedFaults: Readonly<Record<FaultName, RehearsedFault>> = {
  lb: { title: 'the load balancer of all shoots fails', faultsOf: (outage) => [cut(outage)] },
  nat: {
    title: 'a NAT gateway fails: 4 of 5 nodes of each shoot are cut off',
    faultsOf: ({ at, forMs, shoots, nodes }) =>
      shoots.map((shoot) => ({
        ...{ at, forMs },
        fault: { kind: 'nat-gateway', shoot, nodes: range(Math.ceil(nodes * 0.8)) },
      })),
  },
  'shoot-lb': { title: 'the load balancer of one shoot fails', faultsOf: (outage) => [cut(outage, outage.shoots[0])] },
  'api-server': {
    title: 'the API servers of all shoots are down',
    faultsOf: ({ at, forMs, shoots }) =>
      shoots.map((server) => ({ at, forMs, fault: { kind: 'api-server', server, trouble: { how: 'refused' } } })),
  },
  'seed-slow': {
    title: "all load balancers fail, and the seed's API server is slow",
    // A fifth of the requests is rejected, at random: in a fixed order, retries could be rejected again and again.
    faultsOf: (outage) => [
      cut(outage),
      ...(
        [
          { how: 'status', status: 429, retryAfter: 1, part: 0.2 },
          { how: 'slow', delayMs: 500 },
        ] as const
      ).map(
        (trouble): PlannedFault => ({
          ...{ at: outage.at, forMs: outage.forMs },
          fault: { kind: 'api-server', server: 'seed', trouble },
        }),
      ),
    ],
  },
  restart: {
    title: 'all load balancers fail, and the watchdog is restarted',
    faultsOf: (outage) => [
      cut(outage),
      { at: outage.at + outage.forMs / 2, forMs: restartMs, fault: { kind: 'kill', replica: 0 } },
    ],
  },
  'late-kubelets': {
    title: 'all load balancers fail, and half of the kubelets come back a minute late',
    faultsOf: ({ at, forMs, shoots, nodes }) => [
      cut({ at, forMs }),
      ...shoots.map((shoot): PlannedFault => {
        const late = range(nodes).slice(Math.ceil(nodes / 2));
        return { at, forMs: forMs + lateMs, fault: { kind: 'nat-gateway', shoot, nodes: late } };
      }),
    ],
  },
  flapping: {
    title: 'the load balancer of all shoots fails for 35 s of every 45 s',
    faultsOf: ({ at, forMs }) =>
      range(Math.ceil(forMs / (silentMs + openMs))).map((index) => {
        const after = index * (silentMs + openMs);
        return cut({ at: at + after, forMs: Math.min(silentMs, forMs - after) });
      }),
  },
  none: { title: 'nothing fails', faultsOf: () => [] },
};
