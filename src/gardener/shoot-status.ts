import { type JsonObject, optionalObject, optionalString } from '../kubernetes/api/decode.ts';
import type { Condition } from './condition.ts';

/** The last operation on a Shoot or an extension object, and its state. */
export interface LastOperation {
  /** `Create`, `Reconcile`, `Delete`, `Migrate` or `Restore`. */
  readonly type: string;
  /** `Processing`, `Succeeded`, `Error`, `Failed`, `Pending` or `Aborted`. */
  readonly state: string;
  /** RFC 3339; empty if absent. */
  readonly lastUpdateTime: string;
}

/** The parts of a Shoot's status on which its conditions depend. */
export interface ShootProgress {
  readonly lastOperation?: LastOperation | undefined;
  /** True if `status.lastErrors` is not empty. */
  readonly hasLastErrors: boolean;
}

/** Labels of a Shoot that sum up its status: the second one has its former name, which some tools still read. */
const statusLabels = ['shoot.gardener.cloud/status', 'shoot.garden.sapcloud.io/status'];

/** The values of the label, from the worst to the best. */
const severity = ['unhealthy', 'unknown', 'progressing', 'healthy'] as const;
export type StatusLabel = (typeof severity)[number];

export const decodeLastOperation = (status: JsonObject, path: string): LastOperation | undefined => {
  const at = `${path}.lastOperation`;
  const operation = optionalObject(status.lastOperation, at);
  if (operation === undefined) return undefined;
  const text = (field: string): string => optionalString(operation[field], `${at}.${field}`) ?? '';
  return { type: text('type'), state: text('state'), lastUpdateTime: text('lastUpdateTime') };
};

const statusOf = ({ status }: Condition): StatusLabel => {
  switch (status) {
    case 'True':
      return 'healthy';
    case 'Progressing':
      return 'progressing';
    case 'Unknown':
      return 'unknown';
    default:
      return 'unhealthy';
  }
};

const healthyIf = (fine: boolean): StatusLabel => (fine ? 'healthy' : 'unhealthy');

/**
 * Returns the value of the label `shoot.gardener.cloud/status`: the worst status of the conditions and the last operation. While a Shoot is created or deleted,
 * its conditions do not count. Like gardener's ComputeStatus.
 */
export const shootStatus = (
  conditions: readonly Condition[],
  { lastOperation, hasLastErrors }: ShootProgress,
): StatusLabel => {
  if (lastOperation === undefined) return 'healthy';
  const { type, state } = lastOperation;
  if (type === 'Delete' || (type === 'Create' && state !== 'Succeeded')) return healthyIf(!hasLastErrors);
  const ofOperation = healthyIf(state === 'Processing' ? !hasLastErrors : state === 'Succeeded');
  const all = new Set<StatusLabel>([...conditions.map(statusOf), ofOperation]);
  return severity.find((status) => all.has(status)) ?? 'healthy';
};

/** Returns the labels that must be set to show `status`. */
export const shootLabelChange = (
  labels: Readonly<Record<string, string>>,
  status: StatusLabel,
): Readonly<Record<string, string>> =>
  Object.fromEntries(statusLabels.filter((label) => labels[label] !== status).map((label) => [label, status]));
