import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { shootNamed, statusWith } from '../../../test/doubles/probed-shoots.ts';
import { LeaderSilent } from './leader.ts';
import { replicaSource } from './replica-source.ts';

const { signal } = new AbortController();
/** Origin of the leader's view in another replica. */
const shared = { of: 'leader', servedBy: statusWith([]).identity };

const begin = () => {
  const clock = createVirtualClock();
  const world = { leads: false, answers: true, asked: 0 };
  const source = replicaSource({
    own: () => statusWith([shootNamed('own')]),
    leads: () => world.leads,
    pages: { namespace: 'garden', port: 9645 },
    askLeader: async () => {
      world.asked += 1;
      if (!world.answers) throw new LeaderSilent('pod-1', new Error('forbidden'));
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

  it('is its own, with the reason and the way to the leader, until that responds', async () => {
    const { seen, world, clock } = begin();
    world.answers = false;
    const problem = 'pod-1 leads, but its status could not be read: forbidden';
    const alone = { of: 'standby', problem, leader: { namespace: 'garden', pod: 'pod-1', port: 9645 } };
    expect(await seen()).toEqual([alone, 'own', 'own']);
    world.answers = true;
    await clock.advance(9_999);
    expect([await seen(), world.asked]).toEqual([[alone, 'own', 'own'], 1]);
    await clock.advance(1);
    expect(await seen()).toEqual([shared, 'of-leader', 'of-leader']);
  });

  it('is its own without leader election', async () => {
    const source = replicaSource({
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
