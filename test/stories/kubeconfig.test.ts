import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (): Scenario => (scenario = createStory());

const removeSecret = ({ world }: Scenario): void => {
  world.store.remove(simKinds.Secret, { namespace: world.shoot('a').namespace, name: kubeconfigSecretName });
};

const errors = ({ log }: Scenario): readonly unknown[] =>
  log.filter(({ level }) => level === 'error').map(({ msg, reason }) => [msg, reason]);

describe('a kubeconfig that cannot be used', () => {
  const cases: readonly (readonly [what: string, breaking: (scenario: Scenario) => void, reason: RegExp])[] = [
    ['is missing', removeSecret, /no such Secret/],
    [
      'would run a command',
      ({ world }) => {
        const text = world.shoot('a').api.kubeconfig();
        world.shoot('a').publishKubeconfig(text.replace(/ {4}token: .*/, '    exec: {command: "id"}'));
      },
      /exec: is refused/,
    ],
    [
      'names a host that does not exist',
      ({ world }) => {
        const text = world.shoot('a').api.kubeconfig();
        world.shoot('a').publishKubeconfig(text.replace(/server: .*/, 'server: "https://nowhere.simulated"'));
      },
      /no such host/,
    ],
  ];

  it.each(cases)(
    '(it %s) scales nothing, is logged once, and is used as soon as it is repaired',
    async (_, breakIt, reason) => {
      create();
      const { clock, world } = scenario;
      const good = world.shoot('a').api.kubeconfig();
      scenario.startProber();
      await clock.advance(60_000);
      breakIt(scenario);
      await clock.advance(13_000);
      expect(errors(scenario)).toEqual([['probe failed: it gives no verdict', expect.stringMatching(reason)]]);
      world.shoot('a').cutKubelets();
      scenario.shootConnection('a').requests.reset();
      await clock.advance(90_000);
      expect(errors(scenario)).toHaveLength(1);
      expect(scenario.changes).toEqual([]);
      expect(scenario.shootConnection('a').requests.total()).toBe(0);
      expect(JSON.stringify(scenario.log)).not.toContain(/token: "(.*)"/.exec(good)![1]);
      world.store.put(simKinds.Secret, {
        metadata: { name: kubeconfigSecretName, namespace: world.shoot('a').namespace },
        data: { kubeconfig: Buffer.from(good).toString('base64') },
      });
      await clock.advance(60_000);
      expect(stateOf(scenario, 'a')).toEqual(allHeld);
    },
  );

  it('is one with an http:// server, until the configuration allows it', async () => {
    create();
    const { clock, world } = scenario;
    const text = world.shoot('a').api.kubeconfig();
    world.shoot('a').publishKubeconfig(text.replace(/server: .*/, 'server: "http://nowhere.simulated"'));
    scenario.startProber();
    await clock.advance(30_000);
    expect(errors(scenario)).toEqual([
      ['probe failed: it gives no verdict', expect.stringContaining('set allowInsecureShoots: true')],
    ]);
    scenario.reload({ allowInsecureShoots: true });
    await clock.advance(30_000);
    expect(errors(scenario).at(-1)).toEqual([
      'probe failed: it gives no verdict',
      expect.stringContaining('http://nowhere.simulated: no such host'),
    ]);
  });
});

describe('a rotated kubeconfig', () => {
  it.each(['gardener', 'secret'] as const)('is used at once after a failed run (source %s)', async (source) => {
    scenario = createStory({
      shoots: [{ name: 'a' }],
      source,
      settings: source === 'secret' ? { clusterSource: { key: 'kubeconfig' } } : {},
    });
    const { clock, world } = scenario;
    scenario.startProber({ probeIntervalMs: 300_000 });
    world.shoot('a').api.rotateToken();
    await clock.advance(60_000);
    expect(errors(scenario)).toHaveLength(1);
    const verdicts = () => scenario.log.filter(({ msg }) => msg === 'verdict').map(({ verdict }) => verdict);
    expect(verdicts()).toEqual([]);
    world.shoot('a').publishKubeconfig();
    await clock.advance(1_000);
    expect(verdicts()).toEqual(['healthy']);
  });

  it('is used by the next run at the latest', async () => {
    create();
    const { clock, world } = scenario;
    const { requests } = scenario.shootConnection('a');
    scenario.startProber();
    await clock.advance(60_000);
    const [rejected] = [requests.total({ verb: 'list' })];
    world.shoot('a').api.rotateToken();
    world.shoot('a').publishKubeconfig();
    await clock.advance(60_000);
    expect(errors(scenario)).toEqual([]);
    expect(requests.total({ verb: 'list' })).toBeGreaterThan(rejected + 4);
  });
});
