import { type FoundPause, formatPause, pausedAnnotation } from '../annotations/pause.ts';
import { decodeObject, decodeString } from '../kubernetes/api/decode.ts';
import { getVersion } from '../gardener/shoot-calls.ts';
import { ApiError, isApiError } from '../kubernetes/api/errors.ts';
import { type ClusterCommand, type CommandContext, CommandError } from '../process/index.ts';

/** Returns the time of the seed's API server, in milliseconds since the epoch: a pause begins and ends by the clocks of the seed, and that of this machine may be wrong. */
export const seedTime = async ({
  client,
  clock,
  options,
}: Pick<CommandContext, 'client' | 'clock' | 'options'>): Promise<number> =>
  (await client.call(getVersion, options)).date ?? clock.now();

/** Writes a pause to a Namespace. Removes it if `pause` is undefined. */
export const writePause = async (
  name: string,
  pause: FoundPause | undefined,
  context: CommandContext,
): Promise<void> => {
  const value = pause === undefined ? null : formatPause(pause);
  const call = {
    method: 'PATCH',
    path: `/api/v1/namespaces/${encodeURIComponent(name)}`,
    contentType: 'application/merge-patch+json',
    repeatable: true,
    body: { metadata: { annotations: { [pausedAnnotation]: value } } },
    decode: () => undefined,
  } as const;
  try {
    await context.client.call(call, context.options);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    throw new CommandError(`there is no namespace ${name} in this cluster`, [
      'check that it is the right seed (--kubeconfig, --context, $KUBECONFIG), and the name of the shoot',
    ]);
  }
};

/** Returns the user name that the API server reports for us, if it does, with the version of `dwd`. A brake does not fail because it has no name. */
export const currentUser = async (
  context: Pick<CommandContext, 'client' | 'options'>,
  { version }: Pick<ClusterCommand, 'version'>,
): Promise<string> => {
  const call = {
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    contentType: 'application/json',
    repeatable: true,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    decode: (json: unknown): string => {
      const status = decodeObject(decodeObject(json, 'review').status, 'status');
      return decodeString(decodeObject(status.userInfo, 'userInfo').username, 'username');
    },
  } as const;
  try {
    const { value: user } = await context.client.call(call, context.options);
    return `${user}, dwd ${version}`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'Unauthorized') throw error;
    return `dwd ${version}`;
  }
};
