import { renderJson } from '../../src/prober/notify/index.ts';
import { afterEach, expect, it } from 'vitest';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import type { ProberOptions } from '../../src/prober/index.ts';

type Notify = NonNullable<ProberOptions['notify']>;
type Post = Notify['post'];

let scenario: Scenario;
afterEach(() => scenario.stop());

const notifyBy = (post: Post): Notify => ({ url: async () => 'http://receiver.example', render: renderJson, post });

interface Played {
  /** Requests to the API servers of shoot and seed, and changes of Deployments. */
  readonly traffic: unknown;
  readonly log: readonly string[];
}

/** Plays an outage of two minutes and the restoration. */
const play = async (notify?: Notify): Promise<Played> => {
  scenario = createScenario({ shoots: [{ name: 'a' }], seed: 7 });
  const { clock, world } = scenario;
  scenario.startProber({}, { ...(notify === undefined ? {} : { notify }) });
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.advance(120_000);
  world.shoot('a').restoreKubelets();
  await clock.advance(240_000);
  const traffic = {
    seed: [...scenario.seedConnection.requests.byKey],
    shoot: [...scenario.shootConnection('a').requests.byKey],
    changes: [...scenario.changes],
  };
  const log = scenario.log
    .filter(({ msg }) => msg !== 'a notification was not taken')
    .map(({ ts, msg }) => `${String(ts)} ${msg}`);
  await scenario.stop();
  return { traffic, log };
};

it('posts each change of state in an outage', async () => {
  const received: string[] = [];
  await play(
    notifyBy(async ({ body }) => {
      const { before, state } = JSON.parse(body) as Readonly<Record<string, string>>;
      received.push(`${before} -> ${state}`);
      return { kind: 'answered', status: 200 };
    }),
  );
  expect(received).toEqual([
    'healthy -> confirming',
    'confirming -> protected',
    'protected -> restoring',
    'restoring -> healthy',
  ]);
});

it.each<{ readonly what: string; readonly post: Post }>([
  {
    what: 'never responds',
    post: ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'failed', code: 'no answer in time' })),
      ),
  },
  { what: 'responds with 500', post: async () => ({ kind: 'answered', status: 500 }) },
  {
    what: 'is slow',
    post: async ({ signal }) => {
      await scenario.clock.sleep(9_000, signal);
      return { kind: 'answered', status: 200 };
    },
  },
])('a receiver that $what has no effect on requests and scaling', async ({ post }) => {
  const posted: string[] = [];
  const without = await play();
  const played = await play(
    notifyBy((request) => {
      posted.push(request.body);
      return post(request);
    }),
  );
  expect(posted.length).toBeGreaterThan(2);
  expect(played).toEqual(without);
});
