import type { KubeClient } from '../kubernetes/api/kube.ts';
import type { Store } from '../kubernetes/cache/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { DependentsDeps } from './scale/dependents.ts';
import type { ProbeDeps } from './observe/probe.ts';
import type { Pauses } from './scale/pauses.ts';
import type { Role } from './scale/permission.ts';
import type { ProbeGate } from './observe/probe-gate.ts';
import type { Emit } from './report/events.ts';
import type { ProberSettings } from './config/settings.ts';

/** Dependencies of the prober of a shoot. */
export interface ShootProberDeps extends ProbeDeps, DependentsDeps {
  readonly clock: Clock;
  /** Identity of this process, for the notes that it writes. */
  readonly identity: string;
  readonly random: Random;
  readonly settings: ProberSettings;
  readonly emit: Emit;
  readonly gate: Pick<ProbeGate, 'enter'>;
  /** Milliseconds for which a watch of Clusters or dependents has been interrupted; 0 while all are open. */
  readonly watchesInterruptedMs: () => number;
  /** Absent if nothing can be paused. */
  readonly pauses?: Pick<Pauses, 'of'>;
  /** Kubeconfig texts of the external probes, by `namespace/name` of their Secret. Absent if there is no external probe. */
  readonly externalKubeconfigs?: Pick<Store<string | undefined>, 'get' | 'synced'>;
  /** Returns a client of the seed that refuses a write, at the moment of sending, unless `mayWrite` returns true. Default: `seed`. */
  readonly seedFor?: (mayWrite: () => boolean) => KubeClient;
  /** Returns which writes this process may send now. Default: those of the leader. */
  readonly role?: () => Role;
}
