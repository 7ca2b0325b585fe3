import { NoSuchShoot } from '../status/state/find-shoot.ts';
import type { SeedStatus, StatusRun } from '../status/index.ts';
import { CommandError } from './errors.ts';
import { accessFlags, clusterCommandOf, clusterFlags } from './cluster-command.ts';
import { type FlagType, namespaceName, positiveDuration, text } from './flag-types.ts';
import { type FlagValues, flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';

const httpUrl: FlagType<URL> = {
  placeholder: 'url',
  takes: 'an http or https address with its port',
  parse: (word) => {
    const url = URL.parse(word);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' ? { value: url } : undefined;
  },
};

const { timeout } = clusterFlags('10s');

/** Flags that select the prober to which requests for the status go. */
export const leaderFlags = {
  selector: flag(text('labels', 'a label selector'), 'app=dwd-prober', 'Label selector of the pods of the prober'),
  'leader-url': optionalFlag(
    httpUrl,
    'URL of the health endpoints of a prober, such as a forwarded port. Without it, the leader is reached through the API server',
  ),
  'leader-timeout': flag(
    positiveDuration,
    '1.5s',
    'Maximum time to wait for the status of the prober; after that, only the objects of the seed are used',
  ),
} as const;

/** Flags to reach a prober and its seed. */
export const statusFlags = {
  namespace: flag(namespaceName, 'garden', 'Namespace of the prober', 'n'),
  ...leaderFlags,
  ...accessFlags,
  timeout: { ...timeout, description: 'Timeout of a request to the seed' },
} as const;

export const statusRunOf = (
  flags: FlagValues<typeof statusFlags>,
  { shoot, io, stop }: { readonly shoot: string | undefined; readonly io: CliIo; readonly stop?: AbortSignal },
): StatusRun => {
  const { namespace, selector, 'leader-url': leaderUrl, 'leader-timeout': leaderTimeoutMs } = flags;
  const command = clusterCommandOf(
    { ...flags, 'dry-run': false },
    stop === undefined ? io : { ...io, stopOnSignals: () => stop },
  );
  return { ...command, namespace, selector, leaderUrl, leaderTimeoutMs, shoot };
};

/** Reads a status. Throws a CommandError if there is no such shoot. */
export const askStatus = async (
  run: (query: StatusRun) => Promise<SeedStatus>,
  query: StatusRun,
): Promise<SeedStatus> => {
  try {
    return await run(query);
  } catch (error) {
    if (error instanceof NoSuchShoot) throw new CommandError(error.message);
    throw error;
  }
};
