import type { ExchangePhase } from '../../src/kubernetes/api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { headerOf, untilAborted } from '../apiserver/index.ts';
import { OpenRequests, connectionError, withFaults } from '../network/index.ts';

/**
 * State of the network path. `open`; `refused`: nothing listens, and open connections are reset; `silent`: connections never get a response,
 * like a path that loses packets (half-open connections), and are reset when that ends.
 */
export type PathState = 'open' | 'refused' | 'silent';

export interface NetworkPathOptions {
  readonly clock: Clock;
  /** Returns the accepted bearer token; requests with any other get a 401. */
  readonly token: () => string;
  /** How long clients wait for a connection while the path is silent. Default: no limit. */
  readonly connectTimeoutMs?: number | undefined;
}

const unauthorized = { status: 401, reason: 'Unauthorized', message: 'Unauthorized' };

/** Network path to an API server: requests to `kube` need a token, and the path is open, refused or silent. */
export class NetworkPath implements Kube {
  readonly #guarded: Kube;
  readonly #silent: Kube;
  readonly #open = new OpenRequests<ExchangePhase>();
  #reachability: PathState = 'open';

  constructor(kube: Kube, { clock, token, connectTimeoutMs = Number.POSITIVE_INFINITY }: NetworkPathOptions) {
    this.#guarded = withFaults(kube, {
      clock,
      rule: (request) => (headerOf(request, 'authorization') === `Bearer ${token()}` ? undefined : unauthorized),
    });
    this.#silent = withFaults(kube, { clock, rule: () => ({ unconnectedMs: connectTimeoutMs }) });
  }

  get reachability(): PathState {
    return this.#reachability;
  }

  setReachability(next: PathState): void {
    if (next === this.#reachability) return;
    const isReset = this.#reachability === 'silent' || next === 'refused';
    this.#reachability = next;
    if (isReset) {
      this.#open.abort((phase) => connectionError('connection reset by peer', { code: 'ECONNRESET', phase }));
    }
  }

  async request(request: KubeRequest): Promise<KubeResponse> {
    request.signal.throwIfAborted();
    if (this.#reachability === 'refused') {
      throw connectionError('connection refused', { code: 'ECONNREFUSED', phase: 'connecting' });
    }
    const isSilent = this.#reachability === 'silent';
    return this.#open.send(request, {
      kube: isSilent ? this.#silent : this.#guarded,
      note: isSilent ? 'connecting' : 'waiting for the answer',
      read: async (chunk, signal) => {
        const read = await chunk;
        if (this.#reachability !== 'silent') return read;
        return untilAborted(signal, new Promise<never>(() => undefined));
      },
    });
  }
}
