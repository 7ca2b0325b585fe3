import type { FaultyShoot } from './faulty-shoot.ts';

/** A fault between a watchdog and its API servers, with an end. */
export interface WireFault {
  /** Name of the shoot, and suffix of its namespace. */
  readonly name: string;
  /** Result of the runs during the fault while the kubelets are healthy. Undefined if there are no runs. */
  readonly result: string | undefined;
  /** Matches a log line about the shoot. */
  readonly says?: RegExp;
  /** True if the watchdog can neither judge nor act during the fault: it scales nothing down, not even in an outage. */
  readonly blinds: boolean;
  /** Matches a log line about the shoot during the fault in an outage. */
  readonly saysInOutage?: RegExp;
  /** Clocks of the nodes, by default right. */
  readonly nodes?: 'right' | 'fast' | 'slow';
  /** Starts the fault. Resolves to a function that ends it, after which the fault may start again. */
  readonly start: (faulty: FaultyShoot) => Promise<() => Promise<void> | void>;
}

export type Expected = Pick<WireFault, 'result'> & { readonly says: RegExp };

export const unreachable = (says: RegExp): Expected => ({ result: 'api_server_unreachable', says });
export const listFailed = (says: RegExp): Expected => ({ result: 'lease_list_failed', says });
