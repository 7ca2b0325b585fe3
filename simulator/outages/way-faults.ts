import { ApiError } from '../../src/kubernetes/api/errors.ts';
import { type FaultRule, type Fault as WireFault, requestKind } from '../network/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { World, WorldServer } from '../world/index.ts';
import type { ApiFault, Fault } from './plan.ts';

/** Ends what was begun. */
export type End = () => void | Promise<void>;

/** What goes wrong on the ways to API servers. */
export interface Ways {
  /** For the line of a replica to a server. */
  rule(replica: number, server: string): FaultRule;
  disturb(fault: Extract<Fault, { kind: 'api-server' | 'partition' | 'dns' | 'lost-answers' | 'compaction' }>): End;
}

interface ActiveRule {
  readonly replica?: number;
  readonly server: string;
  readonly rule: FaultRule;
}

const notFoundByName = new ApiError({
  code: 'ConnectionError',
  message: 'getaddrinfo ENOTFOUND',
  cause: { code: 'ENOTFOUND', phase: 'connecting' },
});

/** A connection that does not come about is given up; what is asked with a deadline ends there if that is sooner. */
const vanished: WireFault = { unconnectedMs: 10_000 };

const ruleOf = (trouble: Exclude<ApiFault, { how: 'refused' | 'silent' }>, random: SeededRandom): FaultRule => {
  switch (trouble.how) {
    case 'slow':
      return () => ({ delayMs: trouble.delayMs });
    case 'status':
      return () => ({
        status: trouble.status,
        ...(trouble.retryAfter === undefined ? {} : { retryAfter: trouble.retryAfter }),
      });
    case 'flaky': {
      const faults: readonly WireFault[] = ['reset', vanished, { status: 503 }, { delayMs: 2_000 }];
      return () => (random.next() < trouble.part ? faults[random.integer(faults.length)] : undefined);
    }
  }
};

/** `outside` is about all public ways. */
const isAbout = (name: string, server: string): boolean =>
  name === server || (name === 'outside' && server.startsWith('outside/'));

/** `latencyMs`: the longest time that a request is on its way when nothing is wrong. */
export const createWays = (
  world: World,
  { random, latencyMs }: { readonly random: SeededRandom; readonly latencyMs: number },
): Ways => {
  const active = new Set<ActiveRule>();
  /** How servers are unreachable for everybody, by name; the latest counts. */
  const closed = new Map<string, ('refused' | 'silent')[]>();

  const serverOf = (name: string): WorldServer | undefined =>
    name === 'seed' ? world.api : world.shoots.find((shoot) => shoot.name === name)?.api;

  const add = (rule: ActiveRule): End => {
    active.add(rule);
    return () => void active.delete(rule);
  };

  const close = (server: string, how: 'refused' | 'silent'): End => {
    const api = serverOf(server);
    const all = closed.get(server) ?? [];
    closed.set(server, all);
    all.push(how);
    api?.setReachability(how);
    return () => {
      all.splice(all.indexOf(how), 1);
      api?.setReachability(all.at(-1) ?? 'open');
    };
  };

  /** As after a restart of the API server: watches end, and the past is forgotten. */
  const compact = (): void => {
    world.store.compact();
    void close('seed', 'refused')();
  };

  return {
    rule: (replica, server) => (request) => {
      for (const { replica: only, server: name, rule } of active) {
        if (!isAbout(name, server) || (only !== undefined && only !== replica)) continue;
        const fault = rule(request);
        if (fault !== undefined) return fault;
      }
      return latencyMs === 0 ? undefined : { delayMs: random.next() * latencyMs };
    },
    disturb: (fault) => {
      switch (fault.kind) {
        case 'api-server': {
          const { server, trouble } = fault;
          if (trouble.how === 'refused' || trouble.how === 'silent') return close(server, trouble.how);
          return add({ server, rule: ruleOf(trouble, random) });
        }
        case 'partition':
          return add({ replica: fault.replica, server: fault.server, rule: () => vanished });
        case 'dns':
          return add({ replica: fault.replica, server: fault.server, rule: () => ({ error: notFoundByName }) });
        case 'lost-answers':
          return add({
            server: 'seed',
            rule: (request) => {
              const isWrite = !['get', 'list', 'watch'].includes(requestKind(request).verb);
              return isWrite && random.next() < fault.part ? { afterWrite: fault.how } : undefined;
            },
          });
        case 'compaction':
          compact();
          return () => undefined;
      }
    },
  };
};
