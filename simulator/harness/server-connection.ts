import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type FaultRule, withCounting, withFaults } from '../network/index.ts';
import type { WorldServer } from '../world/index.ts';

/** Listener for the stages of every request of a line. Each request has a number, `id`. */
export interface TrafficListener {
  /** The program sends the request. */
  sent(id: number, request: KubeRequest): void;
  /** The request reaches the API server, which executes it before it calls the returned function. */
  serving(id: number, request: KubeRequest): () => void;
  /** The head of the response has arrived. */
  answered(id: number, status: number): void;
  /** There will be no response. `error` is undefined if the caller aborted the request. */
  failed(id: number, error?: unknown): void;
}

const listening = (kube: Kube, listener: TrafficListener, id: number): Kube => ({
  request: (request) => {
    const end = listener.serving(id, request);
    try {
      return kube.request(request);
    } finally {
      end();
    }
  },
});

/**
 * Creates a line: the path of one program to one API server, which counts the program's requests and injects faults. As a transport does,
 * it calls `beforeSend` when it sends a request.
 */
export const createServerConnection = (
  api: Pick<WorldServer, 'kube'>,
  { clock, listener }: { readonly clock: Clock; readonly listener?: TrafficListener | undefined },
) => {
  let rule: FaultRule | undefined;
  let connections = 0;
  let count = 0;
  const faults = { clock, rule: (request: KubeRequest) => rule?.(request) };
  const unheard = withFaults(api.kube, faults);

  const heard = async (request: KubeRequest, hear: TrafficListener): ReturnType<Kube['request']> => {
    count += 1;
    const id = count;
    hear.sent(id, request);
    try {
      const response = await withFaults(listening(api.kube, hear, id), faults).request(request);
      hear.answered(id, response.status);
      return response;
    } catch (error) {
      if (request.signal.aborted) hear.failed(id);
      else hear.failed(id, error);
      throw error;
    }
  };

  const kube = withCounting({
    request: async (request) => {
      request.signal.throwIfAborted();
      request.beforeSend?.();
      return listener === undefined ? unheard.request(request) : heard(request, listener);
    },
  });
  return {
    /** The line as a transport. */
    kube: kube as Kube,
    requests: kube.counts,
    /** Number of connections opened so far; those to the seed are not counted. */
    connections: (): number => connections,
    onConnect: (): void => {
      connections += 1;
    },
    /** Sets the rule that is called for each request; undefined ends the faults. */
    setFaults: (next: FaultRule | undefined): void => {
      rule = next;
    },
  };
};

export type OpenLine = ReturnType<typeof createServerConnection>;
export type ServerConnection = Omit<OpenLine, 'kube' | 'onConnect'>;
