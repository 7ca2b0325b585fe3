import { describe, expect, it } from 'vitest';
import type { PauseRun, ReleaseQuestion, ReleaseReport, ReleaseRun, ResumeRun } from '../steer/index.ts';
import { dwdWith } from './testing/dwd.ts';

const noProber = async (): Promise<number> => expect.unreachable('no prober is started');

describe('dwd pause and dwd resume', () => {
  const run = async (...argv: readonly string[]) => {
    const runs: (PauseRun | ResumeRun)[] = [];
    const runner = async (given: PauseRun | ResumeRun) => {
      runs.push(given);
      return { ok: true, value: ['all shoots: paused', 'note: elsewhere'] } as const;
    };
    const outcome = await dwdWith(noProber, argv, { runPause: runner, runResume: runner });
    return { ...outcome, runs };
  };

  it('pass on what to pause, for how long and why, and print what was done', async () => {
    const { code, stdout, runs } = await run('pause', '--shoot=dev/one', '--for=1h30m', '--reason=LB', '--timeout=5s');
    expect(runs).toMatchObject([
      { shoot: 'dev/one', home: 'garden', forMs: 5_400_000, reason: 'LB', timeoutMs: 5_000 },
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'all shoots: paused\nnote: elsewhere\n' });
    expect((await run('resume', '--all', '-n', 'dwd')).runs).toMatchObject([{ shoot: undefined, home: 'dwd' }]);
  });

  it.each([
    [['pause', '--all'], /--reason/],
    [['pause', '--reason=x'], /^dwd pause: give either --shoot or --all/],
    [['pause', '--reason=x', '--all', '--shoot=a'], /^dwd pause: give either --shoot or --all/],
    [['pause', '--reason=x', '--all', '--for=0s'], /--for/],
    [['resume'], /^dwd resume: give either --shoot or --all/],
    [['release', '--yes'], /^dwd release: give either --shoot or --all/],
  ])('%j is not a valid command line', async (argv, message) => {
    const { code, stderr, runs } = await run(...argv);
    expect([code, runs]).toEqual([2, []]);
    expect(stderr).toMatch(message);
  });

  it('print what to do when they fail', async () => {
    const error = { message: 'namespaces "a" is forbidden', details: ['ask for the role'] };
    const runPause = async () => ({ ok: false, error }) as const;
    const { code, stderr } = await dwdWith(noProber, ['pause', '--all', '--reason=x'], { runPause });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'dwd pause: namespaces "a" is forbidden\nask for the role\n' });
  });
});

describe('dwd release', () => {
  const question: ReleaseQuestion = {
    held: ['Deployment a/kube-controller-manager, was 2'],
    outages: ['a: held; the state of that outage is unknown'],
  };
  const nothing: ReleaseReport = {
    outcome: 'released',
    restored: [],
    givenBack: [],
    left: [],
    paused: [],
    outages: [],
  };
  const run = async (report: Partial<ReleaseReport>, ...argv: readonly string[]) => {
    const runs: ReleaseRun[] = [];
    const runRelease = async (given: ReleaseRun) => {
      runs.push(given);
      const isConfirmed = await given.confirm(question);
      const value: ReleaseReport = isConfirmed ? { ...nothing, ...report } : { ...nothing, outcome: 'declined' };
      return { ok: true, value } as const;
    };
    return { ...(await dwdWith(noProber, ['release', ...argv], { runRelease })), runs };
  };

  it('restores nothing without --yes if there is no terminal to confirm in', async () => {
    const { code, stdout, stderr } = await run({}, '--all');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'dwd release: there is no terminal to confirm in: give --yes to restore the held resources\n' +
        'Deployment a/kube-controller-manager, was 2\na: held; the state of that outage is unknown\n',
    );
  });

  it('restores with --yes, in the order of the given configuration, and prints outages, what was done and pauses', async () => {
    const report = {
      restored: ['Deployment a/kcm'],
      givenBack: ['Deployment b/kcm: hibernation is enabled'],
      paused: ['a'],
      outages: ['a: still 5/5 leases expired'],
    };
    const { code, stdout, runs } = await run(report, '--shoot=a', '-y', '--config-file=config.yaml');
    expect(runs).toMatchObject([{ shoot: 'a', dryRun: false, settings: { kubeConfigSecretName: 'probe' } }]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'a: held; the state of that outage is unknown\nrestored Deployment a/kcm\n' +
        'given back to its owner at 0: Deployment b/kcm: hibernation is enabled\n' +
        'a: paused for 10 minutes; dwd resume --shoot a ends that\na: still 5/5 leases expired\n',
    });
  });

  it('passes on how to reach the leader, and if it releases despite an outage', async () => {
    const asked = await run({}, '--all', '-y', '--leader-url=http://127.0.0.1:9644', '--selector=app=mine');
    const leader = { selector: 'app=mine', leaderUrl: new URL('http://127.0.0.1:9644'), leaderTimeoutMs: 1_500 };
    expect(asked.runs).toMatchObject([{ despiteOutage: false, leader }]);
    expect((await run({}, '--all', '-y', '--despite-outage')).runs).toMatchObject([{ despiteOutage: true }]);
  });

  it('fails if a resource stays at 0', async () => {
    const report = { restored: ['Deployment a/kcm'], left: ['Deployment a/mcm is at 0 replicas, was 1: forbidden'] };
    const { code, stdout } = await run(report, '--all', '--yes');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout:
        'a: held; the state of that outage is unknown\nrestored Deployment a/kcm\nstill held: Deployment a/mcm is at 0 replicas, was 1: forbidden\n',
    });
  });

  it('reports that nothing is held, or what would be restored', async () => {
    expect((await run({ outcome: 'nothing-held' }, '--all', '--yes')).stdout).toMatch(/nothing is held\n$/);
    const givenBack = ['Deployment b/kcm: hibernation is enabled'];
    const report = { outcome: 'dry-run', restored: ['Deployment a/kcm'], givenBack, outages: ['a: held'] } as const;
    const dry = await run(report, '--all', '--yes', '--dry-run');
    expect([dry.runs[0]?.dryRun, dry.stdout]).toEqual([
      true,
      expect.stringMatching(
        /would restore Deployment a\/kcm\nwould give back to its owner at 0: Deployment b\/kcm: hibernation is enabled\na: held\nnothing was changed\n$/,
      ),
    ]);
  });

  it('prints whose order it uses to restore resources if no configuration is given', async () => {
    const order = "order: as in Gardener's configuration, because none is installed in garden";
    const dry = await run({ outcome: 'dry-run', order, restored: ['Deployment a/kcm'] }, '--all', '--yes', '--dry-run');
    expect(dry.stdout).toContain(`${order}\nwould restore Deployment a/kcm\n`);
    const asked = await dwdWith(noProber, ['release', '--all'], {
      runRelease: async ({ confirm }) => {
        await confirm({ order, held: ['Deployment a/kcm'], outages: [] });
        throw new Error('nobody could be asked');
      },
    });
    expect(asked.stderr).toContain(`held resources\n${order}\nDeployment a/kcm\n`);
  });
});
