import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { Kube, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Random } from '../../src/ports/random.ts';

export interface BrokenBodiesOptions {
  readonly random: Random;
  /** Returns the probability that a body breaks off. Called for each body. */
  readonly chance: () => number;
  /** Maximum number of chunks before the break. */
  readonly within: number;
}

const reset = (): ApiError => new ApiError({ code: 'ConnectionError', message: 'the body broke off' });

/** Cuts the chunks of a body at random places. A body that breaks ends without an error, with a reset, or with unrelated bytes. */
async function* mangle(body: KubeResponse['body'], options: BrokenBodiesOptions): AsyncGenerator<Uint8Array, void> {
  const { random, chance, within } = options;
  let left = random.next() < chance() ? Math.floor(random.next() * within) : Number.POSITIVE_INFINITY;
  for await (const chunk of body) {
    const cut = Math.floor(random.next() * (chunk.length + 1));
    yield chunk.subarray(0, cut);
    left -= 1;
    if (left < 0) {
      const how = random.next();
      if (how < 0.4) throw reset();
      if (how < 0.6) yield Buffer.from('\n<html>502</html>\n');
      return;
    }
    yield chunk.subarray(cut);
  }
}

/** Wraps `kube` so that its bodies arrive in random chunks and sometimes break off. */
export const withBrokenBodies = (kube: Kube, options: BrokenBodiesOptions): Kube => ({
  request: async (request) => {
    const response = await kube.request(request);
    return { ...response, body: mangle(response.body, options) };
  },
});
