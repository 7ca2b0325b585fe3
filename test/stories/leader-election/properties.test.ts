import fc from 'fast-check';
import { expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../../simulator/apiserver/server.ts';
import { type RequestFault, withFaults } from '../../../simulator/network/faults.ts';
import { type SeededRandom, createSeededRandom } from '../../../simulator/time/random.ts';
import { ApiError } from '../../../src/kubernetes/api/errors.ts';
import type { Kube } from '../../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import { type ElectionReplica, lease, startReplica } from './replica.ts';

interface ElectionFaults {
  /** Probability that a request fails or is delayed. */
  readonly faults: number;
  /** Probability per replica and second that its process is suspended. */
  readonly suspensions: number;
  /** Probability per replica and second that it is stopped as by SIGTERM. */
  readonly stops: number;
  /** Probability per second that another client changes the Lease's annotations. */
  readonly leaseEdits: number;
  /** Largest error in the rate of a monotonic clock, as a fraction. */
  readonly drift: number;
}

const never = new AbortController().signal;

/** Lets some writes time out at the client, although the server executes them up to 30 s later. */
const withStragglers = (
  kube: Kube,
  options: { readonly clock: Clock; readonly random: SeededRandom; chance: () => number },
): Kube => ({
  request: async (request) => {
    const { clock, random } = options;
    if (request.method === 'GET' || random.next() >= options.chance()) return kube.request(request);
    clock.timer(random.next() * 30_000, () => {
      const { timeoutMs: _, ...late } = request;
      void kube.request({ ...late, signal: never }).catch(() => undefined);
    });
    await clock.sleep(Math.min(request.timeoutMs ?? 5_000, random.next() * 10_000), request.signal);
    throw new ApiError({ code: 'Timeout', message: 'no answer' });
  },
});

const randomFault = (random: SeededRandom): RequestFault => {
  const delayMs = random.next() * 8_000;
  const faults: readonly RequestFault[] = [
    'drop',
    'reset',
    { afterWrite: 'reset' },
    { delayMs },
    { delayMs, then: { afterWrite: 'reset' } },
    { status: 409 },
    { status: 500 },
    { status: 503, retryAfter: 1 },
    { status: 429, retryAfter: 1 },
    { status: 403 },
  ];
  return faults[random.integer(faults.length)]!;
};

const shuffled =
  (random: SeededRandom) =>
  <T>(items: T[]): T[] =>
    items
      .map((item) => ({ item, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);

/**
 * Runs three replicas with faults, suspensions, clock jumps, stops and starts for `seconds`, then 90 s without them. Throws if two may write at the
 * same time, or if not exactly one may write in the end.
 */
const live = async (seed: number, trouble: ElectionFaults, seconds: number): Promise<{ readonly terms: number }> => {
  const random = createSeededRandom(seed);
  const clock = createVirtualClock();
  const server = createSimApiServer({ clock, seed, namespaces: ['garden'] });
  let { faults } = trouble;
  const faulty = withFaults(server, {
    clock,
    rule: () => (random.next() < faults ? randomFault(random) : undefined),
  });
  const kube = withStragglers(faulty, { clock, random, chance: () => faults / 4 });
  const all: ElectionReplica[] = [];
  let terms = 0;
  let violation: string | undefined;

  const recordViolations = (): void => {
    const writers = all.filter(({ elector }) => elector.mayWrite()).map(({ identity }) => identity);
    if (writers.length > 1) violation ??= `${clock.monotonic()} ms: two may write: ${writers.join(' and ')}`;
    for (const { elector, end, identity } of all) {
      if (end !== undefined && elector.mayWrite()) violation ??= `${identity} may write after its end`;
    }
  };

  const check = (): void => {
    recordViolations();
    if (violation !== undefined) throw new Error(violation);
  };

  const start = (process: SimulatedProcess): ElectionReplica => {
    const replica = startReplica({
      identity: `replica-${all.length}`,
      process,
      kube,
      random: random.fork(`replica-${all.length}`),
      onStarted: () => {
        terms += 1;
        recordViolations();
      },
      onStopped: async () => {
        if (random.next() >= 0.5) await process.clock.sleep(random.next() * 12_000, never);
      },
    });
    all.push(replica);
    return replica;
  };

  const createOne = (): SimulatedProcess =>
    new SimulatedProcess(clock, {
      rate: 1 + (random.next() * 2 - 1) * trouble.drift,
      orderDue: shuffled(random),
    });

  const running = [1, 2, 3].map(() => start(createOne()));
  const awakeAt = new Map<SimulatedProcess, number>();
  const injectFault = async (index: number): Promise<void> => {
    const replica = running[index]!;
    const { process } = replica;
    const wakeAt = awakeAt.get(process);
    if (wakeAt !== undefined) {
      if (clock.monotonic() < wakeAt) return;
      awakeAt.delete(process);
      await process.resume();
    }
    if (replica.end !== undefined) running[index] = start(process);
    else if (random.next() < trouble.stops) replica.stop();
    else if (random.next() < trouble.suspensions) {
      process.suspend();
      awakeAt.set(process, clock.monotonic() + random.next() * 40_000);
    }
    if (random.next() < 0.02) process.setWallOffset((random.next() - 0.5) * 7_200_000);
  };

  for (let step = 0; step < seconds * 4; step += 1) {
    await clock.advance(250);
    check();
    if (step % 4 !== 0) continue;
    for (const index of running.keys()) await injectFault(index);
    const current = server.store.get(simKinds.Lease, lease);
    if (current !== undefined && random.next() < trouble.leaseEdits) {
      server.store.put(simKinds.Lease, {
        ...current,
        metadata: { ...current.metadata, annotations: { touched: `${step}` } },
      });
    }
    await clock.settle();
    check();
  }

  faults = 0;
  for (let step = 0; step < 4 * 90; step += 1) {
    for (const [index, { process, end }] of running.entries()) {
      if (awakeAt.delete(process)) await process.resume();
      if (end !== undefined) running[index] = start(process);
    }
    await clock.advance(250);
    check();
  }
  const leaders = running.filter(({ elector }) => elector.mayWrite());
  if (leaders.length !== 1) throw new Error(`in the end ${leaders.length} lead`);
  return { terms };
};

/** Uniform numbers from 0 to `max`: fast-check's own doubles are mostly close to 0. */
const chance = (max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 100 }).map((part) => (part / 100) * max);

it('rule 26, 28: at most one replica may write at any time, and one may write after all faults have ended', {
  timeout: 1_200_000,
}, async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.record({
        faults: chance(0.6),
        suspensions: chance(0.1),
        stops: chance(0.05),
        leaseEdits: chance(0.2),
        drift: chance(0.1),
      }),
      async (seed, trouble) => {
        terms += (await live(seed, trouble, 240)).terms;
      },
    ),
    { numRuns: Number(process.env.DWD_ELECTION_RUNS ?? 60) },
  );
  // With few leaders the property would prove little.
  expect(terms).toBeGreaterThan(200);
});
