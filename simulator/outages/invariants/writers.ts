import { electionSettings } from '../../harness/index.ts';
import type { SimEvent } from '../history.ts';
import type { Model } from '../model.ts';
import { type Invariant, watchdogWrite } from './invariant.ts';

const { renewDeadlineMs } = electionSettings(true);

type Request = Extract<SimEvent, { kind: 'request' }>;

/** True if a request changes an object, except requests of the election itself, and access reviews, which are reads by POST. */
const isWrite = (event: SimEvent): event is Request =>
  event.kind === 'request' &&
  event.server === 'seed' &&
  !['get', 'list', 'watch'].includes(event.verb) &&
  !['leases', 'selfsubjectaccessreviews'].includes(event.resource);

const describe = ({ verb, resource, name = '' }: Request): string => `${verb} ${resource} ${name}`.trim();

interface LeadersWrite {
  readonly what: string;
  readonly process: string;
  readonly sentAt: number;
  /** True if it has been carried out, false if it was only sent. */
  readonly isDone: boolean;
}

/** Returns a write that only the leader may send. A standby may scale down and record Events, so changes of Deployments are judged by themselves. */
const leadersWrite = (event: SimEvent, { plan }: Model): LeadersWrite | undefined => {
  if (!plan.elected) return undefined;
  const restored = watchdogWrite(event);
  if (restored !== undefined && restored.direction !== 'down') {
    return { what: `the restoration of ${restored.name}`, ...restored, isDone: true };
  }
  if (!isWrite(event) || (event.stage !== 'sent' && event.stage !== 'served')) return undefined;
  if (plan.component === 'prober' && ['deployments', 'events'].includes(event.resource)) return undefined;
  return { what: describe(event), process: event.process, sentAt: event.at, isDone: event.stage === 'served' };
};

/** While one process holds the Lease, no write of another is carried out. */
export const oneLeader: Invariant = {
  name: 'never two leaders writing',
  begin: (model) => (event) => {
    const { what, process, isDone = false } = leadersWrite(event, model) ?? {};
    if (!isDone || model.leader === undefined || model.leader === process) return undefined;
    return `${String(what)} of process ${String(process)} was done while ${model.leader} led`;
  },
};

/** No process writes unless it has held the Lease, and has renewed it within the renew deadline. */
export const noWriteAfterLoss: Invariant = {
  name: 'no write after leadership is lost',
  begin: (model) => (event) => {
    const write = leadersWrite(event, model);
    if (write === undefined || (event.kind === 'request' && write.isDone)) return undefined;
    const { what, process, sentAt } = write;
    const renewedAt = model.renewals.get(process);
    if (renewedAt === undefined) return `${what} was sent by process ${process}, which never led`;
    if (sentAt - renewedAt < renewDeadlineMs) return undefined;
    return `${what} was sent by process ${process} ${((sentAt - renewedAt) / 1_000).toFixed(1)} s after its last renewal`;
  },
};

export const dryRunWritesNothing: Invariant = {
  name: 'a dry run writes nothing',
  begin: (model) => (event) => (model.plan.dryRun && isWrite(event) ? `${describe(event)} in a dry run` : undefined),
};
