import type { KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { type FaultRule, type RequestFault, connectionError, requestKind } from '../network/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { World, WorldServer } from '../world/index.ts';
import { type End, type Handlers, nothing } from './faults.ts';
import type { ApiFault } from './plan.ts';

interface ActiveRule {
  /** Absent if the rule applies to all replicas. */
  readonly replica?: number;
  readonly server: string;
  readonly rule: FaultRule;
}

export interface NetworkFaultsOptions {
  readonly random: SeededRandom;
  /** Maximum latency of a request without faults. */
  readonly latencyMs: number;
}

const notFoundByName = connectionError('getaddrinfo ENOTFOUND', { code: 'ENOTFOUND', phase: 'connecting' });

/** A connection attempt without a response fails after 10 s, or at the deadline of the request if that is sooner. */
const vanished: RequestFault = { unconnectedMs: 10_000 };

const ruleOf = (fault: Exclude<ApiFault, { how: 'refused' | 'silent' }>, random: SeededRandom): FaultRule => {
  switch (fault.how) {
    case 'slow':
      return () => ({ delayMs: fault.delayMs });
    case 'status': {
      const { how: _, part = 1, ...response } = fault;
      return () => (part === 1 || random.next() < part ? response : undefined);
    }
    case 'flaky': {
      const faults: readonly RequestFault[] = ['reset', vanished, { status: 503 }, { delayMs: 2_000 }];
      return () => (random.next() < fault.part ? faults[random.integer(faults.length)] : undefined);
    }
  }
};

const isWrite = (request: KubeRequest): boolean => !['get', 'list', 'watch'].includes(requestKind(request).verb);

/** True if a rule for `name` applies to `server`. `outside` stands for the public addresses of all shoots. */
const isAbout = (name: string, server: string): boolean =>
  name === server || (name === 'outside' && server.startsWith('outside/'));

/** Faults of the network paths to API servers. */
export class NetworkFaults {
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly #latencyMs: number;
  readonly #active = new Set<ActiveRule>();
  /** Faults that make a server unreachable for all clients, by name of the server. The latest one applies. */
  readonly #closed = new Map<string, ('refused' | 'silent')[]>();

  readonly handlers: Handlers<'api-server' | 'partition' | 'writes' | 'dns' | 'lost-answers' | 'compaction'> = {
    'api-server': ({ server, trouble }) =>
      trouble.how === 'refused' || trouble.how === 'silent'
        ? this.close(server, trouble.how)
        : this.#add({ server, rule: ruleOf(trouble, this.#random) }),
    partition: ({ replica, server }) => this.#add({ replica, server, rule: () => vanished }),
    writes: ({ replica, deployment, how }) => {
      const rule: FaultRule = (request) => {
        const isMeant = deployment === undefined || request.path.endsWith(`/deployments/${deployment}`);
        return isMeant && isWrite(request) && requestKind(request).resource !== 'leases' ? how : undefined;
      };
      return this.#add({ replica, server: 'seed', rule });
    },
    dns: ({ replica, server }) => this.#add({ replica, server, rule: () => ({ error: notFoundByName }) }),
    'lost-answers': ({ how, part }) => {
      const isLost: FaultRule = (request) =>
        isWrite(request) && this.#random.next() < part ? { afterWrite: how } : undefined;
      return this.#add({ server: 'seed', rule: isLost });
    },
    /** Like a restart of the API server: watches end, and the history is discarded. */
    compaction: () => {
      this.#world.store.compact();
      void this.close('seed', 'refused')();
      return nothing;
    },
  };

  constructor(world: World, { random, latencyMs }: NetworkFaultsOptions) {
    this.#world = world;
    this.#random = random;
    this.#latencyMs = latencyMs;
  }

  /** Returns the rule for requests of a replica to a server. */
  rule(replica: number, server: string): FaultRule {
    return (request) => {
      for (const { replica: only = replica, server: name, rule } of this.#active) {
        const fault = isAbout(name, server) && only === replica ? rule(request) : undefined;
        if (fault !== undefined) return fault;
      }
      return this.#latencyMs === 0 ? undefined : { delayMs: this.#random.next() * this.#latencyMs };
    };
  }

  /** Makes a server unreachable for all clients, until the returned function is called. */
  close(server: string, how: 'refused' | 'silent'): End {
    const api = this.#serverOf(server);
    const all = this.#closed.get(server) ?? [];
    this.#closed.set(server, all);
    all.push(how);
    api?.setReachability(how);
    return () => {
      all.splice(all.indexOf(how), 1);
      api?.setReachability(all.at(-1) ?? 'open');
    };
  }

  #add(rule: ActiveRule): End {
    this.#active.add(rule);
    return () => void this.#active.delete(rule);
  }

  #serverOf(name: string): WorldServer | undefined {
    return name === 'seed' ? this.#world.api : this.#world.shoots.find((shoot) => shoot.name === name)?.api;
  }
}
