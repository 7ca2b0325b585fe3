import { escapeControls } from '../../telemetry/index.ts';
import type { StateChange } from '../status/status-recorder.ts';
import type { HeldInShoot, ProtectionState } from '../status/schema.ts';

/** The document of a POST, if no template gives it another form. Fields may be added to it; a change of meaning raises `schemaVersion`. */
export interface Notification {
  readonly schemaVersion: 1;
  readonly kind: 'ShootStateChanged';
  /** Identifier of this change, the same for every attempt to deliver it. */
  readonly id: string;
  /** When the state changed, RFC 3339. */
  readonly at: string;
  /** Namespace of the shoot's control plane in the seed. */
  readonly namespace: string;
  /** Absent if it is not known. */
  readonly project?: string;
  /** Name of the shoot; the namespace if the name is not known. */
  readonly name: string;
  readonly before: ProtectionState;
  readonly state: ProtectionState;
  /** The last verdict, in words and numbers. */
  readonly reason: string;
  /** The next step, in words. */
  readonly next: string;
  readonly held: readonly Pick<HeldInShoot, 'kind' | 'name' | 'replicas' | 'annotation'>[];
}

/** Longest text that is copied from a cluster, in characters. */
const longest = 500;

const clean = (text: string): string => escapeControls(text.slice(0, longest));

/** Returns undefined if there is nothing to report: the shoot is seen for the first time, or is healthy after its state was unknown. */
export const notificationOf = ({ before, shoot }: StateChange, now: number): Notification | undefined => {
  const { namespace, project, name, state, reason, next, held } = shoot;
  if (before === undefined || (before === 'unknown' && state === 'healthy')) return undefined;
  const at = new Date(now).toISOString();
  return {
    schemaVersion: 1,
    kind: 'ShootStateChanged',
    id: `${namespace}/${state}/${at}`,
    at,
    namespace,
    ...(project === undefined ? {} : { project: clean(project) }),
    name: clean(name),
    before,
    state,
    reason: clean(reason),
    next: clean(next.text),
    held: held.map((resource) => ({
      kind: clean(resource.kind),
      name: clean(resource.name),
      replicas: resource.replicas,
      ...(resource.annotation === undefined ? {} : { annotation: clean(resource.annotation) }),
    })),
  };
};
