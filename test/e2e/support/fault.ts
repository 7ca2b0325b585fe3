import type { FaultLane } from './fault-lane.ts';

/** Something that goes wrong between a watchdog and what it talks to, and that ends. */
export interface WireFault {
  /** Of the lane and its namespace. */
  readonly name: string;
  /** How probe runs end while it lasts and the kubelets are well; undefined: there are none. */
  readonly result: string | undefined;
  /** What the log says of the shoot. */
  readonly says?: RegExp;
  /** While it lasts nothing can be judged, or nothing can be done: not even in an outage is anything scaled. */
  readonly blinds: boolean;
  /** What it says of the shoot while the fault lasts in an outage. */
  readonly saysInOutage?: RegExp;
  /** Whose clocks are right unless told. */
  readonly nodes?: 'right' | 'fast' | 'slow';
  /** Resolves with what ends it. Then it may be inflicted again. */
  readonly inflict: (lane: FaultLane) => Promise<() => Promise<void> | void>;
}

export type Expected = Pick<WireFault, 'result'> & { readonly says: RegExp };

export const unreachable = (says: RegExp): Expected => ({ result: 'api_server_unreachable', says });
export const listFailed = (says: RegExp): Expected => ({ result: 'lease_list_failed', says });
