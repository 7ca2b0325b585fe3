import type { SimEvent } from '../history.ts';
import type { Plan } from '../plan.ts';
import { sentAtOf } from '../model.ts';
import { electionSettings } from '../../harness/index.ts';
import { stateless } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

type Request = Extract<SimEvent, { kind: 'request' }>;

/** True if a request changes an object, except requests of the election itself, and access reviews, which are reads by POST. */
const isWrite = (event: SimEvent): event is Request =>
  event.kind === 'request' &&
  event.exchange.server === 'seed' &&
  !['get', 'list', 'watch'].includes(event.verb) &&
  !['leases', 'selfsubjectaccessreviews'].includes(event.resource);

/** True if only the leader may send a write. A standby may scale down and record Events; changes of Deployments are judged by themselves. */
const isLeadersWrite = (event: SimEvent, { component }: Plan): event is Request =>
  isWrite(event) && (component !== 'prober' || !['deployments', 'events'].includes(event.resource));

const describeRequest = ({ verb, resource, name = '' }: Request): string => `${verb} ${resource} ${name}`.trim();

const isElected = ({ elected }: Plan): boolean => elected;

/** While one process holds the Lease, no write of another is carried out. */
export const oneLeader = stateless('never two leaders writing', (event, { model, rules }) => {
  const { plan } = rules;
  const holder = model.leader.process;
  if (!isElected(plan) || holder === undefined) return undefined;
  const write = watchdogWrite(event);
  if (write !== undefined && write.direction !== 'down' && write.writer.process !== holder) {
    return `${write.shoot}: ${write.name} was restored by process ${write.writer.process} while ${holder} led`;
  }
  if (!isLeadersWrite(event, plan) || event.stage !== 'served') return undefined;
  const { process } = event.exchange;
  return holder === process
    ? undefined
    : `${describeRequest(event)} of process ${process} was done while ${holder} led`;
});

/** No process writes unless it has held the Lease, and has renewed it within the renew deadline. */
export const noWriteAfterLoss = stateless('no write after leadership is lost', (event, { model, rules }) => {
  const { plan } = rules;
  if (!isElected(plan)) return undefined;
  const write = watchdogWrite(event);
  const isSent = isLeadersWrite(event, plan) && event.stage === 'sent';
  const restored = write === undefined || write.direction === 'down' ? undefined : write;
  const exchange = isSent ? event.exchange : restored?.writer;
  if (exchange === undefined) return undefined;
  const what = isSent ? describeRequest(event) : `the restoration of ${String(restored?.name)}`;
  const sentAt = sentAtOf(model, exchange);
  const renewedAt = model.leader.renewals.get(exchange.process);
  if (renewedAt === undefined) return `${what} was sent by process ${exchange.process}, which never led`;
  const { renewDeadlineMs } = electionSettings(true);
  if (sentAt - renewedAt < renewDeadlineMs) return undefined;
  const seconds = ((sentAt - renewedAt) / 1_000).toFixed(1);
  return `${what} was sent by process ${exchange.process} ${seconds} s after its last renewal`;
});

export const dryRunWritesNothing = stateless('a dry run writes nothing', (event, { rules }) =>
  rules.plan.dryRun && isWrite(event) ? `${describeRequest(event)} in a dry run` : undefined,
);
