import { describe, expect, it } from 'vitest';
import { CommandError } from '../process/index.ts';
import type { PauseRun, ReleaseReport, ReleaseRun, ResumeRun } from '../steer/index.ts';
import { dwdWith } from './testing/dwd.ts';

const noProber = async (): Promise<number> => expect.unreachable('no prober is started');

describe('dwd pause and dwd resume', () => {
  const run = async (...argv: readonly string[]) => {
    const runs: (PauseRun | ResumeRun)[] = [];
    const runner = async (given: PauseRun | ResumeRun) => {
      runs.push(given);
      return ['all shoots: paused', 'note: elsewhere'];
    };
    const outcome = await dwdWith(noProber, argv, { runPause: runner, runResume: runner });
    return { ...outcome, runs };
  };

  it('pass on what to pause, for how long and why, and print what was done', async () => {
    const { code, stdout, runs } = await run('pause', '--shoot=dev/one', '--for=1h30m', '--reason=LB', '--timeout=5s');
    expect(runs).toMatchObject([
      { shoot: 'dev/one', namespace: 'garden', forMs: 5_400_000, reason: 'LB', timeoutMs: 5_000 },
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'all shoots: paused\nnote: elsewhere\n' });
    expect((await run('resume', '--all', '-n', 'dwd')).runs).toMatchObject([{ shoot: undefined, namespace: 'dwd' }]);
  });

  it.each([
    [['pause', '--all'], /--reason/],
    [['pause', '--reason=x'], /^dwd pause: give either --shoot or --all/],
    [['pause', '--reason=x', '--all', '--shoot=a'], /^dwd pause: give either --shoot or --all/],
    [['pause', '--reason=x', '--all', '--for=0s'], /--for/],
    [['resume'], /^dwd resume: give either --shoot or --all/],
    [['release', '--yes'], /^dwd release: give either --shoot or --all/],
    [['release', '--all', '--yes', '--wait=false'], /^dwd release: --wait cannot be turned off/],
  ])('%j is not a valid command line', async (argv, message) => {
    const { code, stderr, runs } = await run(...argv);
    expect([code, runs]).toEqual([2, []]);
    expect(stderr).toMatch(message);
  });

  it('print what to do when they fail', async () => {
    const runPause = () => Promise.reject(new CommandError('namespaces "a" is forbidden', ['ask for the role']));
    const { code, stderr } = await dwdWith(noProber, ['pause', '--all', '--reason=x'], { runPause });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'dwd pause: namespaces "a" is forbidden\nask for the role\n' });
  });
});

describe('dwd release', () => {
  const lines = ['Deployment a/kube-controller-manager, was 2', 'a: held; the state of that outage is unknown'];
  const run = async (report: ReleaseReport, ...argv: readonly string[]) => {
    const runs: ReleaseRun[] = [];
    const runRelease = async (given: ReleaseRun) => {
      runs.push(given);
      return (await given.confirm(lines)) ? report : { lines: ['nothing was changed'], isDone: false };
    };
    return { ...(await dwdWith(noProber, ['release', ...argv], { runRelease })), runs };
  };
  const done = { lines: ['restored Deployment a/kcm'], isDone: true };

  it('shows what it is about and, with --yes, what was done; fails if something stays held', async () => {
    const { code, stdout, runs } = await run(done, '--shoot=a', '-y', '--wait', '--config-file=config.yaml');
    expect(runs).toMatchObject([{ shoot: 'a', dryRun: false, settings: { kubeConfigSecretName: 'probe' } }]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${lines.join('\n')}\nrestored Deployment a/kcm\n` });
    expect((await run({ ...done, isDone: false }, '--all', '--yes')).code).toBe(1);
  });

  it('passes on how to reach the leader, and if it releases despite an outage', async () => {
    const asked = await run(done, '--all', '-y', '--selector=app=mine');
    const leader = { selector: 'app=mine', leaderTimeoutMs: 1_500 };
    expect(asked.runs).toMatchObject([{ despiteOutage: false, ...leader }]);
    expect((await run(done, '--all', '-y', '--despite-outage', '--dry-run')).runs).toMatchObject([
      { despiteOutage: true, dryRun: true },
    ]);
  });
});
