import type { Call } from '../../kubernetes/api/call.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { KubeClient } from '../../kubernetes/api/kube.ts';
import type { CheckContext } from '../check.ts';
import { decodeExtension } from '../extension.ts';

/** Responses by path: an object, a list as `{ items }`, or the error with which the call fails. All other paths are not found. */
export type StubAnswers = Readonly<Record<string, object>>;

const notFound = (path: string): ApiError =>
  new ApiError({ code: 'NotFound', status: 404, message: `GET ${path}: 404 NotFound: gone` });

const stubClient = (answers: StubAnswers): KubeClient => ({
  call: async <T>({ path, decode }: Call<T>) => {
    const answer = answers[path] ?? notFound(path);
    if (answer instanceof Error) throw answer;
    return { value: decode(answer), sentAt: 0, receivedAt: 0 };
  },
});

/** Builds the context of a check of an extension object in the namespace `shoot--dev--one`. */
export const contextOf = ({ seed = {}, shoot = {} }: { seed?: StubAnswers; shoot?: StubAnswers }): CheckContext => ({
  extension: decodeExtension({ metadata: { name: 'one', namespace: 'shoot--dev--one' } }, 'extension'),
  cluster: {},
  seed: stubClient(seed),
  shoot: async () => stubClient(shoot),
  signal: new AbortController().signal,
});
