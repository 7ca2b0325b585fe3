import { describe, expect, it } from 'vitest';
import { type ClusterCommand, CommandError } from '../process/index.ts';
import { dwdWith } from './testing/dwd.ts';

const never = async (): Promise<number> => expect.unreachable('no prober is started');
/** Runs a command that works on a cluster. Returns what it selects the cluster by. */
const accessOf = async (...argv: readonly string[]): Promise<readonly unknown[]> => {
  const seen: unknown[] = [];
  const runner = async ({ kubeconfig, context }: ClusterCommand): Promise<never> => {
    seen.push({ kubeconfig, context });
    throw new CommandError('no cluster here');
  };
  const runners = { runPause: runner, runResume: runner, runRelease: runner, runPreflight: runner, runStatus: runner };
  const { started, weeders, cares } = await dwdWith(async () => 7, argv, { ...runners, runPage: runner });
  const processes = [...started, ...weeders, ...cares].map(({ flags: { kubeconfig, context } }) => ({
    kubeconfig,
    context,
  }));
  return [...seen, ...processes];
};

const commands: readonly (readonly string[])[] = [
  ['status'],
  ['explain', 'dev/one'],
  ['page'],
  ['pause', '--all', '--reason=x'],
  ['resume', '--all'],
  ['release', '--all', '--yes'],
  ['preflight', '--config-file=config.yaml'],
  ['prober', '--config-file=config.yaml'],
  ['weeder', '--config-file=weeder.yaml'],
  ['care', '--config-file=care.yaml'],
];

describe('every command that works on a cluster', () => {
  it.each(commands)('dwd %s takes --kubeconfig and --context', async (...argv) => {
    const chosen = await accessOf(...argv, '--kubeconfig=/k', '--context=seed');
    expect(chosen).toEqual([{ kubeconfig: '/k', context: 'seed' }]);
    expect(await accessOf(...argv)).toEqual([{ kubeconfig: undefined, context: undefined }]);
  });

  const access = {
    source: '--kubeconfig /k',
    endpoint: { protocol: 'https:', host: 'fd00::1', port: 6443, basePath: '/k8s' },
    security: async () => expect.unreachable('no request is sent'),
    credentials: { authorization: async () => undefined, reload: () => false },
  } as const;

  it('names the context and the server, in a pipe too, and not again while they stay the same', async () => {
    const run =
      (context?: string) =>
      async ({ onConnect }: Pick<ClusterCommand, 'onConnect'>): Promise<never> => {
        for (const _ of [1, 2]) onConnect?.({ ...access, context });
        throw new CommandError('no cluster here');
      };
    const pause = await dwdWith(never, ['pause', '--all', '--reason=x'], { runPause: run('seed') });
    expect(pause.stderr).toBe(
      'cluster: https://[fd00::1]:6443/k8s (context seed, --kubeconfig /k)\ndwd pause: no cluster here\n',
    );
    const once = await dwdWith(never, ['care', '--config-file=care.yaml', '--once'], {
      runCare: { process: never, once: run() },
    });
    expect(once.stderr).toBe('cluster: https://[fd00::1]:6443/k8s (--kubeconfig /k)\ndwd care: no cluster here\n');
  });
});
