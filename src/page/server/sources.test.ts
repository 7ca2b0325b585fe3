import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { shootNamed, statusWith } from '../../../test/doubles/probed-shoots.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { leaderStatusReader, replicaSource } from './sources.ts';

const { signal } = new AbortController();

const leaseOf = (holderIdentity: string) => ({
  metadata: { name: 'lead', namespace: 'garden', uid: 'u', resourceVersion: '1' },
  spec: { holderIdentity },
});
const status = statusWith([shootNamed('one')]);

const beginLeader = () => {
  const clock = createVirtualClock();
  const kube = createScriptedKube();
  const ask = leaderStatusReader({
    seed: kube,
    clock,
    lease: { namespace: 'garden', name: 'lead' },
    healthPort: 9644,
  });
  /** Requests the status with these responses. Returns the requested paths and the result. */
  const asked = async (shoot: string | undefined, ...answers: readonly (readonly [code: number, body: unknown])[]) => {
    const from = kube.requests.length;
    const result = ask(shoot, signal).then(
      ({ shoots }) => shoots.map(({ name }) => name).join(),
      (error: unknown) => String(error),
    );
    for (const [code, body] of answers) {
      await clock.settle();
      kube.take().respond(code, body);
    }
    const text = await result;
    return [kube.requests.slice(from).map(({ path }) => path), text];
  };
  return { clock, asked };
};

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/garden/leases/lead';
const podPath = (pod: string): string => `/api/v1/namespaces/garden/pods/${pod}:9644/proxy/status`;

describe('the leader', () => {
  it('is the pod that the Lease names, reached through the proxy for pods', async () => {
    const { asked, clock } = beginLeader();
    expect(await asked(undefined, [200, leaseOf('pod-a_1f')], [200, status])).toEqual([
      [leasePath, podPath('pod-a')],
      'one',
    ]);
    expect(await asked('x', [200, status])).toEqual([[podPath('pod-a')], 'one']);
    await clock.advance(10_000);
    expect(await asked(undefined, [200, leaseOf('pod-b_2e')], [200, status])).toEqual([
      [leasePath, podPath('pod-b')],
      'one',
    ]);
  });

  it('is read from the Lease again after it has not responded', async () => {
    const { asked } = beginLeader();
    const forbidden = { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no right' };
    const [, problem] = await asked(undefined, [200, leaseOf('pod-a_1f')], [403, forbidden]);
    expect(problem).toMatch(/^Error: pod-a leads, but its status could not be read: .*no right/);
    expect(await asked(undefined, [200, leaseOf('pod-b_2e')], [200, status])).toEqual([
      [leasePath, podPath('pod-b')],
      'one',
    ]);
  });

  it('is nobody while nobody holds the Lease', async () => {
    expect(await beginLeader().asked(undefined, [200, leaseOf('')])).toEqual([[leasePath], 'Error: no replica leads']);
  });
});

/** Origin of the leader's view in another replica. */
const shared = { of: 'leader', servedBy: statusWith([]).identity };

const begin = () => {
  const clock = createVirtualClock();
  const world = { leads: false, answers: true, asked: 0 };
  const source = replicaSource({
    identity: statusWith([]).identity,
    own: () => statusWith([shootNamed('own')]),
    leads: () => world.leads,
    namespace: 'garden',
    askLeader: async () => {
      world.asked += 1;
      if (!world.answers) throw new Error('pod-1 leads: forbidden');
      return statusWith([shootNamed('of-leader')]);
    },
    clock,
  });
  const seen = async () => {
    const { status, origin } = await source.seed(signal);
    return [origin, status.shoots[0]?.name, (await source.shoot('x', signal))?.name];
  };
  return { clock, world, seen };
};

describe('the status that a replica shows', () => {
  it('is that of the leader', async () => {
    const { seen, world } = begin();
    expect(await seen()).toEqual([shared, 'of-leader', 'of-leader']);
    world.leads = true;
    expect(await seen()).toEqual([{ of: 'leader' }, 'own', 'own']);
    expect(world.asked).toBe(2);
  });

  it('is its own, with the reason, until that responds', async () => {
    const { seen, world, clock } = begin();
    world.answers = false;
    const alone = { of: 'standby', namespace: 'garden', problem: 'pod-1 leads: forbidden' };
    expect(await seen()).toEqual([alone, 'own', 'own']);
    world.answers = true;
    await clock.advance(9_999);
    expect([await seen(), world.asked]).toEqual([[alone, 'own', 'own'], 1]);
    await clock.advance(1);
    expect(await seen()).toEqual([shared, 'of-leader', 'of-leader']);
  });

  it('is its own without leader election', async () => {
    const source = replicaSource({
      identity: statusWith([]).identity,
      own: () => statusWith([shootNamed('own')]),
      leads: () => true,
      clock: createVirtualClock(),
    });
    expect(await source.seed(signal)).toMatchObject({
      origin: { of: 'leader' },
      status: { shoots: [{ name: 'own' }] },
    });
  });
});
