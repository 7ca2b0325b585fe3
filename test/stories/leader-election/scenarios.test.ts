import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type SimApiServer, createSimApiServer } from '../../../simulator/apiserver/server.ts';
import { type CountingKube, withCounting } from '../../../simulator/network/counting.ts';
import { type FaultRule, type RequestFault, withFaults } from '../../../simulator/network/faults.ts';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import { type ElectionReplica, type ElectionReplicaOptions, lease, startReplica } from './replica.ts';

let clock: VirtualClock;
let server: SimApiServer;
/** Fault of a request of any replica; a request without one passes. */
let fault: FaultRule;
let counting: CountingKube;
const steady = { next: () => 0.5 };

beforeEach(() => {
  clock = createVirtualClock();
  server = createSimApiServer({ clock, namespaces: ['garden'] });
  fault = () => undefined;
  counting = withCounting(withFaults(server, { clock, rule: (request) => fault(request) }));
});

const start = (identity: string, options: Partial<ElectionReplicaOptions> = {}): ElectionReplica => {
  const process = new SimulatedProcess(clock);
  return startReplica({ identity, process, kube: counting, random: steady, ...options });
};

const startLeader = async (identity = 'a', options: Partial<ElectionReplicaOptions> = {}): Promise<ElectionReplica> => {
  const replica = start(identity, options);
  await clock.settle();
  expect(replica.elector.mayWrite()).toBe(true);
  return replica;
};

const ref = lease;

const stored = (): Record<string, unknown> =>
  (server.store.get(simKinds.Lease, ref)?.spec ?? {}) as Record<string, unknown>;

/** Changes the Lease's labels, as an operator with kubectl or another controller would. */
const label = (value: string): void => {
  const current = server.store.get(simKinds.Lease, ref)!;
  server.store.put(simKinds.Lease, { ...current, metadata: { ...current.metadata, labels: { touched: value } } });
};

describe('rule 25: taking the Lease', () => {
  it('rule 25: creates an absent Lease, and leads at once', async () => {
    const a = await startLeader();
    expect(stored()).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect([...counting.counts.byKey]).toEqual([
      ['get leases', 1],
      ['create leases', 1],
    ]);
    expect([a.elector.mayWrite(), a.starts]).toEqual([true, 1]);
  });

  it('rule 25: takes a Lease that has not changed for its whole duration', async () => {
    const a = await startLeader();
    await clock.advance(4_000);
    a.process.suspend();
    const b = start('b');
    await clock.advance(14_999);
    expect(b.elector.mayWrite()).toBe(false);
    await clock.advance(1);
    expect(b.elector.mayWrite()).toBe(true);
    expect(stored()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('rule 25: waits between one and 2.2 retry periods, by jitter, before the next read', async () => {
    await startLeader();
    for (const [next, seconds] of [
      [0, 2],
      [0.999_999, 4.4],
    ] as const) {
      const b = start('b', { random: { next: () => next } });
      await clock.settle();
      counting.counts.reset();
      await clock.advance(100 * seconds * 1_000 + 10);
      expect(counting.counts.total({ verb: 'get' })).toBe(100);
      b.stop();
      await clock.settle();
    }
  });
});

describe('rule 26: keeping the Lease', () => {
  it('rule 26: a renewal is one update without a read', async () => {
    const a = await startLeader();
    counting.counts.reset();
    await clock.advance(60_000);
    expect([...counting.counts.byKey]).toEqual([['update leases', 30]]);
    expect(a.elector.mayWrite()).toBe(true);
    expect(stored()).toMatchObject({ acquireTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 0 });
  });

  it('rule 26: reads the Lease after a conflict, and keeps the changes of other clients', async () => {
    const a = await startLeader();
    label('x');
    counting.counts.reset();
    await clock.advance(2_000);
    expect([...counting.counts.byKey]).toEqual([
      ['update leases', 2],
      ['get leases', 1],
    ]);
    expect(a.elector.mayWrite()).toBe(true);
    expect(server.store.get(simKinds.Lease, ref)?.metadata.labels).toEqual({ touched: 'x' });
    expect(a.logger.at('warn')).toEqual([]);
  });

  it.each(['drop', { afterWrite: 'drop' }] as const)(
    'rule 26: keeps leading if one renewal fails (%j)',
    async (one) => {
      const a = await startLeader();
      let count = 0;
      fault = (request) => (request.method === 'PUT' && count++ === 0 ? one : undefined);
      await clock.advance(7_001);
      expect(a.elector.mayWrite()).toBe(true);
      expect(count).toBeGreaterThanOrEqual(2);
      await clock.advance(60_000);
      expect(a.elector.mayWrite()).toBe(true);
      expect(stored()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    },
  );

  it.each(['drop', { status: 500 }] as const)(
    'rule 26: stops leading if renewals fail with %j until the deadline, before another can lead',
    async (failure) => {
      const a = await startLeader();
      await clock.advance(2_000);
      fault = (request) => (request.method === 'PUT' ? failure : undefined);
      await clock.advance(9_999);
      expect(a.elector.mayWrite()).toBe(true);
      await clock.advance(1);
      expect(a.elector.mayWrite()).toBe(false);
      expect(a.end).toBe('lost');
      expect(a.logger.lines.at(-1)?.fields.reason).toContain('could not be renewed in time');
      expect(stored()).toMatchObject({ holderIdentity: 'a' });
      expect(a.logger.at('warn')).toHaveLength(1);
      fault = () => undefined;
      const b = start('b');
      await clock.advance(14_000);
      expect(b.elector.mayWrite()).toBe(false);
      await clock.advance(1_000);
      expect(b.elector.mayWrite()).toBe(true);
    },
  );

  it('rule 26: does not retry failures in a hot loop', async () => {
    await startLeader();
    fault = (request) => (request.method === 'PUT' ? { status: 500 } : undefined);
    counting.counts.reset();
    await clock.advance(9_999);
    expect([...counting.counts.byKey]).toEqual([
      ['update leases', 5],
      ['get leases', 4],
    ]);
  });

  it.each([
    ['another replica has taken the Lease', 'b'],
    ['an operator has removed the holder', ''],
  ])('rule 26: stops leading at its next renewal if %s, and does not take it back', async (_, holderIdentity) => {
    const a = await startLeader();
    const current = server.store.get(simKinds.Lease, ref)!;
    server.store.put(simKinds.Lease, { ...current, spec: { ...stored(), holderIdentity } });
    await clock.advance(2_000);
    expect([a.end, a.elector.mayWrite()]).toEqual(['lost', false]);
    expect(stored()).toMatchObject({ holderIdentity, leaseTransitions: 0 });
  });

  it('rule 26: the leader creates a deleted Lease again, while a replica that has seen it waits', async () => {
    const a = await startLeader();
    const b = start('b', { random: { next: () => 0 } });
    await clock.advance(500);
    server.store.delete(simKinds.Lease, ref);
    fault = (request) => (request.method === 'GET' ? undefined : { status: 503 });
    await clock.advance(3_000);
    expect([a.elector.mayWrite(), b.elector.mayWrite()]).toEqual([false, false]);
    fault = () => undefined;
    await clock.advance(60_000);
    expect([a.elector.mayWrite(), b.elector.mayWrite()]).toEqual([true, false]);
    expect([a.end, a.starts]).toEqual([undefined, 1]);
  });
});

describe('rule 27: a clean stop', () => {
  it('rule 27: waits for the write in flight, then releases the Lease', async () => {
    let finish: () => void = () => undefined;
    const inFlight = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ends: string[] = [];
    const a = await startLeader('a', {
      onStopped: (end) => {
        ends.push(end);
        return inFlight;
      },
    });
    await clock.advance(1_000);
    a.stop();
    await clock.advance(500);
    expect(ends).toEqual(['stopped']);
    expect(a.elector.mayWrite()).toBe(false);
    expect(stored()).toMatchObject({ holderIdentity: 'a' });
    finish();
    await clock.settle();
    expect(a.end).toBe('stopped');
    expect(stored()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    const b = start('b');
    await clock.settle();
    expect(b.elector.mayWrite()).toBe(true);
    expect(stored()).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 });
  });

  it('rule 27: does not release the Lease if a write outlasts the renew deadline: others wait until it expires', async () => {
    const a = await startLeader('a', { onStopped: () => clock.sleep(10_001, new AbortController().signal) });
    a.stop();
    await clock.advance(10_001);
    expect(a.end).toBe('stopped');
    expect(stored()).toMatchObject({ holderIdentity: 'a' });
  });

  it.each<[meets: string, method: string, fault: RequestFault, ledFor: number]>([
    ['a conflict', 'PUT', { status: 409 }, 1_000],
    ['a renewal without a response', 'PUT', { afterWrite: 'drop' }, 2_000],
    ['a creation without a response', 'POST', { afterWrite: 'drop' }, 1_000],
  ])('rule 27: releases also after %s', async (_, method, once, ledFor) => {
    let count = 0;
    fault = (request) => (request.method === method && count++ === 0 ? once : undefined);
    const a = start('a');
    await clock.advance(ledFor);
    expect(stored()).toMatchObject({ holderIdentity: 'a' });
    a.stop();
    await clock.advance(1_000);
    expect([a.end, count > 0]).toEqual(['stopped', true]);
    expect(stored()).toMatchObject({ holderIdentity: '' });
  });

  it('rule 27: gives up the release after 2 s if the API server does not respond', async () => {
    const a = await startLeader();
    fault = () => 'drop';
    a.stop();
    await clock.advance(1_999);
    expect(a.end).toBeUndefined();
    await clock.advance(1);
    expect(a.end).toBe('stopped');
    expect(a.logger.at('warn')).toEqual(['leader election: the Lease was not released; it runs out by itself']);
    expect(clock.pending).toBe(0);
  });

  it('rule 27: does not release a Lease that another replica holds', async () => {
    const a = await startLeader();
    const current = server.store.get(simKinds.Lease, ref)!;
    server.store.put(simKinds.Lease, { ...current, spec: { ...stored(), holderIdentity: 'b' } });
    a.stop();
    await clock.advance(3_000);
    expect(a.end).toBe('stopped');
    expect(stored()).toMatchObject({ holderIdentity: 'b' });
  });

  it('rule 27: sends no request if it does not lead', async () => {
    await startLeader();
    const b = start('b');
    await clock.advance(1_000);
    counting.counts.reset();
    b.stop();
    await clock.settle();
    expect(b.end).toBe('stopped');
    expect(counting.counts.total()).toBe(0);
  });
});

describe('rule 28: a suspended process', () => {
  it('rule 28: may not write from its deadline on, even before it has noticed the suspension', async () => {
    const a = await startLeader();
    await clock.advance(2_500);
    a.process.suspend();
    await clock.advance(9_499);
    expect(a.elector.mayWrite()).toBe(true);
    await clock.advance(1);
    expect(a.elector.mayWrite()).toBe(false);
    fault = () => ({ delayMs: 100 });
    await a.process.resume();
    await clock.advance(99);
    expect([a.end, a.elector.mayWrite()]).toEqual([undefined, false]);
  });

  it('rule 28: continues to lead after its deadline if the resourceVersion of the Lease is unchanged', async () => {
    const a = await startLeader();
    await clock.advance(2_500);
    a.process.suspend();
    await clock.advance(3_600_000);
    counting.counts.reset();
    await a.process.resume();
    await clock.settle();
    expect([...counting.counts.byKey]).toEqual([['update leases', 1]]);
    expect([a.end, a.elector.mayWrite(), a.starts]).toEqual([undefined, true, 2]);
    expect(a.logger.at('warn')).toEqual([
      'leader election: this process was held up; it writes nothing until the Lease is renewed',
    ]);
    await clock.advance(60_000);
    expect(stored()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    expect(a.logger.at('warn')).toHaveLength(1);
  });

  it.each<[meanwhile: string, happens: () => Promise<void> | void, stored: object]>([
    [
      'has led',
      async () => {
        const b = start('b');
        await clock.advance(20_000);
        expect(b.elector.mayWrite()).toBe(true);
        b.stop();
      },
      { holderIdentity: '', leaseTransitions: 1 },
    ],
    [
      'may have led, because the Lease is deleted',
      async () => {
        await clock.advance(20_000);
        server.store.delete(simKinds.Lease, ref);
      },
      {},
    ],
  ])('rule 28: stops leading if another replica %s when it wakes up', async (_, happen, left) => {
    const a = await startLeader();
    a.process.suspend();
    await happen();
    await clock.settle();
    await a.process.resume();
    await clock.settle();
    expect([a.end, a.elector.mayWrite()]).toEqual(['lost', false]);
    expect(stored()).toMatchObject(left);
    expect('holderIdentity' in stored()).toBe('holderIdentity' in left);
  });

  it.each<[of: string, before: RequestFault | undefined, suspendedAt: number, forMs: number]>([
    ['that a suspension has delayed', undefined, 1_500, 8_400],
    ['after one during which the process was suspended', 'drop', 2_100, 7_850],
  ])('rule 26: a renewal %s may end after the deadline, and nothing is written meanwhile', async (_, ...given) => {
    const [before, suspendedAt, forMs] = given;
    const a = await startLeader();
    fault = () => before;
    await clock.advance(suspendedAt);
    a.process.suspend();
    await clock.advance(forMs);
    fault = () => ({ delayMs: 1_000 });
    await a.process.resume();
    await clock.advance(999);
    expect([a.end, a.elector.mayWrite()]).toEqual([undefined, false]);
    await clock.advance(1);
    expect([a.end, a.elector.mayWrite()]).toEqual([undefined, true]);
  });

  it('rule 28: renews once more if the response to its last renewal was waiting, until that had run out, too', async () => {
    const a = await startLeader();
    fault = () => ({ delayMs: 100 });
    await clock.advance(2_050);
    fault = () => undefined;
    a.process.suspend();
    await clock.advance(10_300);
    await a.process.resume();
    expect(a.elector.mayWrite()).toBe(false);
    await clock.advance(1);
    expect([a.end, a.elector.mayWrite(), a.starts]).toEqual([undefined, true, 2]);
  });

  it.each(['drop', { status: 500 }] as const)(
    'rule 28: tries once to renew if it wakes up after its deadline (%j)',
    async (failure) => {
      const a = await startLeader();
      await clock.advance(1_000);
      a.process.suspend();
      await clock.advance(9_500);
      fault = () => failure;
      counting.counts.reset();
      await a.process.resume();
      await clock.advance(3_334);
      expect([a.end, a.elector.mayWrite()]).toEqual(['lost', false]);
      expect(counting.counts.total({ verb: 'update' })).toBe(1);
    },
  );
});

it.each([{ status: 403, message: 'cannot create leases' }, { status: 503 }])(
  'rule 29: warns once while it cannot take the Lease (%j), and keeps trying',
  async (failure) => {
    fault = () => failure;
    const a = start('a');
    await clock.advance(60_000);
    expect([a.elector.mayWrite(), a.logger.at('warn')]).toEqual([false, [expect.anything()]]);
    fault = () => undefined;
    await clock.advance(5_000);
    expect(a.elector.mayWrite()).toBe(true);
  },
);
