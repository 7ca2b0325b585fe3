import type { Clock } from '../../ports/clock.ts';
import type { Credentials, Endpoint, Security } from '../client/index.ts';
import type { Files } from './files.ts';

/** How the operator has us reach a cluster. */
export interface ClusterAccess {
  /** Where this comes from, for the log. */
  readonly source: string;
  readonly endpoint: Endpoint;
  /** As the transport wants it: follows changed files and credentials. */
  readonly security: (signal: AbortSignal) => Promise<Security>;
  readonly credentials: Credentials;
  /** Namespace of the context, or of the pod. */
  readonly namespace?: string;
}

export interface OperatorOptions {
  /** Value of `--kubeconfig`. */
  readonly path?: string;
  /** Environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws where the user has none: neither $HOME nor an entry in /etc/passwd, as any user of a container may be. */
  readonly homedir: () => string;
  readonly clock: Clock;
  /** Default: the machine's. */
  readonly files?: Files;
}
