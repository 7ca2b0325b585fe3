import { type FoundPause, findPause, formatPause, isInForce, pausedAnnotation } from '../annotations/pause.ts';
import { decodeMeta, decodeObject, decodeString } from '../kubernetes/api/decode.ts';
import { ApiError, isApiError } from '../kubernetes/api/errors.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type ClusterCommand, type CommandContext, CommandError, callOptions } from '../process/index.ts';

const path = '/api/v1/namespaces';

const decode = (json: unknown, at: string) => {
  const { name, annotations } = decodeMeta(decodeObject(json, at), at);
  return { name, pause: findPause(annotations) };
};

/** Lists the pauses in force of Namespaces, by name. */
export const listPauses = async (context: CommandContext): Promise<ReadonlyMap<string, FoundPause>> => {
  const { value } = await context.client.call(listCall({ path, decode }), callOptions(context));
  const now = context.clock.now();
  return new Map(
    value.flatMap(({ name, pause }) => (pause !== undefined && isInForce(pause, now) ? [[name, pause] as const] : [])),
  );
};

/** Writes a pause to a Namespace. Removes it if `pause` is undefined. */
export const writePause = async (
  name: string,
  pause: FoundPause | undefined,
  context: CommandContext,
): Promise<void> => {
  const value = pause === undefined ? null : formatPause(pause);
  const call = {
    method: 'PATCH',
    path: `${path}/${encodeURIComponent(name)}`,
    contentType: 'application/merge-patch+json',
    repeatable: true,
    body: { metadata: { annotations: { [pausedAnnotation]: value } } },
    decode: () => undefined,
  } as const;
  try {
    await context.client.call(call, callOptions(context));
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    throw new CommandError(`there is no namespace ${name} in this cluster`, [
      'check that it is the right seed (--kubeconfig, --context, $KUBECONFIG), and the name of the shoot',
    ]);
  }
};

type Steering = Pick<ClusterCommand, 'version' | 'env'>;

/** Returns the user name that the API server reports for us, else the login name on this machine, with the version of `dwd`. */
export const currentUser = async (
  context: Pick<CommandContext, 'client' | 'signal'>,
  { version, env }: Steering,
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
    const { value: user } = await context.client.call(call, callOptions(context));
    return `${user}, dwd ${version}`;
  } catch (error) {
    if (!(error instanceof ApiError && ['Forbidden', 'NotFound'].includes(error.code))) throw error;
    const login = env.USER ?? env.LOGNAME ?? env.USERNAME;
    return login === undefined ? `dwd ${version}` : `${login} (login), dwd ${version}`;
  }
};
