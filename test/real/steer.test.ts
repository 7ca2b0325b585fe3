import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pausedAnnotation } from '../../src/annotations/pause.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { documentAt, root } from '../documents/markdown.ts';
import type { RbacRule } from '../envtest/access.ts';
import { startDeploymentController } from '../envtest/deployment-controller.ts';
import { describeEnvtest } from '../envtest/gate.ts';
import { freePorts } from '../envtest/processes.ts';
import { type Kubelets, getDeployment, seedRules } from '../envtest/shoot.ts';
import { operatorKubeconfig } from './support/operator.ts';
import { type PodNetwork, createProberPod, openPodNetwork } from './support/pod-network.ts';
import type { Program } from './support/program.ts';
import { type TypedAnswer, endOfInput, inTerminal, interrupt, startInTerminal } from './support/terminal.ts';
import { type ProberWorld, kcm, mcm, quickConfig, shootNamespace, startProberWorld } from './support/prober-world.ts';

const namespace = shootNamespace;

const eventRules: readonly RbacRule[] = [{ apiGroups: [''], resources: ['events'], verbs: ['create'] }];

const prompt = '$ ';

/** Replaces the parts that differ from run to run: times, the version of the program, and the cluster. */
const inShape = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^cluster: .*$/gm, 'cluster: SEED')
    .replaceAll(/\((?:\d+[hms])+\)/g, '(AGE)')
    .replaceAll(/\bdwd \d+\.\d+\.\d+[\w.-]*/g, 'dwd VERSION');

/**
 * Reads a document, whose `console` blocks each show one command, `$ dwd ...`, with its output below, and runs the commands in a terminal. `flags`
 * replace the reader's environment. `text` is the document with the printed output where that differs in more than these.
 */
const documentedRuns = (path: string) => {
  const file = `${root}${path}`;
  const blocks = new Map(
    documentAt(path).consoles.map((block) => [block.split('\n', 1)[0]?.slice(prompt.length) ?? '', block]),
  );
  const printed = new Map<string, string>();
  return {
    file,
    run: async (command: string, flags: readonly string[], answer?: TypedAnswer) => {
      if (!blocks.has(command)) throw new Error(`${path} does not show: ${command}`);
      const run = await inTerminal(command, flags, answer);
      printed.set(command, `${prompt}${command}\n${run.text.trimEnd()}`);
      return run;
    },
    text: (): string =>
      [...blocks].reduce(
        (text, [command, block]) => {
          const now = printed.get(command);
          if (now === undefined) throw new Error(`${path} shows a command that was not run: ${command}`);
          return inShape(now) === inShape(block) ? text : text.replace(block, () => now);
        },
        readFileSync(file, 'utf8'),
      ),
  };
};

/** Acts as an operator with only the roles of the chart. */
describeEnvtest('dwd pause, resume and release, on a real API server', () => {
  let pods: PodNetwork;
  let world: ProberWorld;
  let seed: ProberWorld['seed'];
  let configFile: string;
  let kubelets: Kubelets;
  let prober: Program | undefined;
  let operator: string;
  let healthPort = 0;

  const run = async (...args: readonly string[]): Promise<Program & { readonly code: number | NodeJS.Signals }> => {
    const program = world.start(args);
    return { ...program, code: await program.ended };
  };
  const dwd = (...args: readonly string[]) => run(...args, `--kubeconfig=${operator}`);
  const documented = documentedRuns('docs/operate.md');
  const flags = () => [`--kubeconfig=${operator}`];

  beforeAll(async () => {
    pods = await openPodNetwork();
    world = await startProberWorld('steer', { apiServerFlags: pods.flags });
    ({ seed } = world);
    configFile = world.file('config.yaml', quickConfig());
    kubelets = world.startKubelets();
    await world.createShoot();
    world.use(startDeploymentController(seed.client, namespace));
    await seed.client.apply('/api/v1/namespaces/garden', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'garden' },
    });
    operator = await operatorKubeconfig(seed, quickConfig(), 'kim');
    [healthPort = 0] = await freePorts(1);
    await createProberPod(seed.client, { name: 'dwd-prober', healthPort });
  });

  afterAll(async () => {
    await world.stop();
    await pods.close();
  });

  const startProber = async (): Promise<void> => {
    const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: [...seedRules, ...eventRules] });
    const health = `--health-bind-addr=127.0.0.1:${String(healthPort)}`;
    const addresses = ['--metrics-bind-addr=0', health, '--kube-api-qps=50', '--kube-api-burst=100'];
    prober = world.start(['prober', `--kubeconfig=${file}`, `--config-file=${configFile}`, ...addresses]);
    await untilLogged('probing begins');
  };
  const untilLogged = (message: string): Promise<unknown> =>
    world.until(message, () => prober?.lines().some(({ msg }) => msg === message) === true);
  const countsOf = async (): Promise<readonly number[]> =>
    Promise.all([kcm, mcm].map(async (name) => (await getDeployment(seed.client, namespace, name)).spec.replicas));
  const untilCounts = (ofKcm: number, ofMcm: number) => world.untilCounts({ [kcm]: ofKcm, [mcm]: ofMcm });
  /** Returns the program's annotations on the two. */
  const marks = () => Promise.all([world.marksOf(kcm), world.marksOf(mcm)]);

  it.each([
    ['release --all --dry-run', /^dwd release: this is no seed: .*--context/m],
    [
      'pause --shoot test/one --reason x',
      /^dwd pause: there is no shoot test\/one: this cluster does not serve Clusters/m,
    ],
    ['explain test/one', /\ndwd explain: this is no seed: .*--context/],
  ])('says of a wrong cluster that it is no seed: dwd %s', async (line, words) => {
    const { code, output } = await run(...line.split(' '), `--kubeconfig=${world.shoot.admin.kubeconfig.file}`);
    expect(code).toBeGreaterThan(0);
    expect(output()).toMatch(words);
  });

  it('pauses a shoot for a while, and resumes it', async () => {
    const paused = await documented.run('dwd pause --shoot test/one --for 1h --reason "LB maintenance"', flags());
    const resumed = await documented.run('dwd resume --shoot test/one', flags());
    expect([paused.code, resumed.code], paused.text + resumed.text).toEqual([0, 0]);
  });

  it('does not report as released what is scaled down after the question, and pauses all shoots, also if nothing is held', async () => {
    await seed.kubectl(['annotate', 'namespace', 'garden', `${pausedAnnotation}=an hour ago`]);
    const asking = startInTerminal(`dwd release --all --config-file=${configFile} --kubeconfig=${operator}`);
    await world.until('the question', () => asking.output().includes('[y/N] '));
    const late = '/apis/apps/v1/namespaces/default/deployments/kube-controller-manager';
    const { spec } = await getDeployment(seed.client, namespace, kcm);
    const annotations = { [meltdownProtectionAnnotation]: '', [replicasAnnotation]: '1' };
    const metadata = { name: kcm, namespace: 'default', annotations };
    await seed.client.apply(late, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { ...spec, replicas: 0 },
    });
    asking.type('y\n');
    expect([await asking.ended, asking.output().replaceAll('\r\n', '\n')]).toEqual([
      1,
      expect.stringMatching(
        /\nnothing is held\nfirst all shoots are paused .*\nnote: no prober has its Lease .*\n.*y\nstill held: Deployment default\/kube-controller-manager, was 1: .*\nall shoots: paused for 10 minutes; dwd resume --all ends that\n$/,
      ),
    ]);
    await seed.client.delete(late);
    expect((await dwd('resume', '--all')).stdout()).toBe('all shoots: the pause has ended\n');
  });

  it('pauses a shoot: it is scaled down as soon as the pause ends', async () => {
    await startProber();
    const pause = async (time: string): Promise<number> => {
      const paused = await dwd('pause', `--shoot=${namespace}`, `--for=${time}`, '--reason=LB maintenance');
      expect([paused.code, paused.stdout()]).toEqual([
        0,
        expect.stringMatching(/^test\/one \(shoot--test--one\): paused until \S+Z: LB maintenance \(kim, dwd \S+\)\n$/),
      ]);
      return Date.parse(/until (\S+):/.exec(paused.stdout())?.[1] ?? '');
    };
    await pause('2h');
    kubelets.cut();
    await untilLogged('not scaled down: a pause holds');
    expect(await countsOf()).toEqual([2, 3]);
    const until = await pause('1s');
    await untilCounts(0, 0);
    const annotations = (await marks()).map(
      ({ held = '' }) => JSON.parse(held) as Record<'since' | 'reason' | 'by', string>,
    );
    for (const { since, reason, by } of annotations) {
      expect(Date.parse(since)).toBeGreaterThanOrEqual(until);
      expect([reason, by]).toEqual([expect.stringMatching(/lease|renewed/), expect.stringMatching(/.+/)]);
    }
  });

  it('releases held resources while no prober runs, and a starting prober does not undo that', async () => {
    prober?.signal('SIGTERM');
    expect(await prober?.ended).toBe(0);
    const refused = await dwd('release', '--all', `--config-file=${configFile}`);
    expect([refused.code, await countsOf()]).toEqual([1, [0, 0]]);
    expect(refused.stderr()).toContain(
      'there is no terminal to confirm in: give --yes to restore the held resources\n',
    );
    const byFile = [...flags(), `--config-file=${configFile}`];
    const answering = (keys: string) => ({ after: '[y/N] ', keys });
    for (const keys of ['n\n', '\n', 'yes, please\n', endOfInput]) {
      const declined = await inTerminal('dwd release --all', byFile, answering(keys));
      expect([keys, declined.code, declined.text.includes('\nnothing was changed\n')]).toEqual([keys, 1, true]);
    }
    const stopped = await inTerminal('dwd release --all', byFile, answering(interrupt));
    expect([stopped.code, stopped.text]).toEqual([1, expect.stringContaining('interrupted before it was finished')]);
    expect(await countsOf()).toEqual([0, 0]);
    const released = await documented.run('dwd release --shoot test/one', byFile, answering('y\n'));
    expect([released.code, released.text]).toEqual([0, expect.stringContaining(`restored Deployment ${namespace}/`)]);
    expect([await countsOf(), await marks()]).toEqual([
      [2, 3],
      [{}, {}],
    ]);
    await startProber();
    await untilLogged('not scaled down: a pause holds');
    expect(await countsOf()).toEqual([2, 3]);
  });

  it('resumes: the shoot is scaled down, and resources are released during the outage only on request, also one that the configuration no longer names', async () => {
    const resumed = await dwd('resume', `--shoot=${namespace}`);
    expect([resumed.code, resumed.stdout()]).toEqual([0, `test/one (${namespace}): the pause has ended\n`]);
    await untilCounts(0, 0);
    const release = ['release', '--all', '--yes', `--config-file=${configFile}`, '--leader-timeout=20s'];
    const refused = await dwd(...release);
    expect([refused.code, refused.stdout(), await countsOf()]).toEqual([1, '', [0, 0]]);
    expect(refused.stderr()).toMatch(
      /^cluster: .*\ndwd release: nothing was released: a release in an outage .*\ntest\/one \(\S+\): HELD for .*3\/3 .* about 8s after it is restored\n.*--despite-outage\n$/,
    );
    // The annotation of KCM names MCM.
    const configFileOfKcm = world.file('config-of-kcm.yaml', quickConfig([kcm]));
    const released = await dwd(...release, `--config-file=${configFileOfKcm}`, '--despite-outage');
    expect([released.code, await countsOf()], released.output()).toEqual([0, [2, 3]]);
    expect(released.stdout()).toContain(
      `test/one (${namespace}): still 3/3 expired; dwd resume --all protects it again\n`,
    );
  });

  it("pauses all shoots in the prober's namespace, and reports it", async () => {
    const paused = await dwd('pause', '--all', '--reason=drill');
    expect([paused.code, paused.stdout()]).toEqual([
      0,
      expect.stringMatching(
        /^all shoots: paused until it is taken back: drill \(kim, .*\)\nnote: no prober has its Lease/,
      ),
    ]);
    await untilLogged('all shoots are paused: nothing is scaled down');
    expect((await dwd('resume', '--all')).stdout()).toBe('all shoots: the pause has ended\n');
    expect((await dwd('pause', '--shoot=no-such', '--reason=x')).stderr()).toContain(
      'there is no shoot no-such in this seed',
    );
  });

  it('matches docs/operate.md; --update writes the printed output there', async () => {
    await expect(documented.text()).toMatchFileSnapshot(documented.file);
  });
});
