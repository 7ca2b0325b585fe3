import type { SimEvent } from '../history.ts';
import type { Plan } from '../plan.ts';
import { exchangeKey } from '../model.ts';
import { electionSettings } from '../world-settings.ts';
import { stateless } from './invariant.ts';

/** Requests that change something, but for the election itself and questions asked by POST. */
const isWrite = (event: SimEvent): event is Extract<SimEvent, { kind: 'request' }> =>
  event.kind === 'request' &&
  event.exchange.server === 'seed' &&
  !['get', 'list', 'watch'].includes(event.verb) &&
  !['leases', 'selfsubjectaccessreviews'].includes(event.resource);

const told = ({ verb, resource, name = '' }: Extract<SimEvent, { kind: 'request' }>): string =>
  `${verb} ${resource} ${name}`.trim();

const isElected = ({ elected }: Plan): boolean => elected;

/** While one holds the Lease, nothing that another sent is done. */
export const oneLeader = stateless('never two leaders writing', (event, { model, rules }) => {
  if (!isElected(rules.plan) || !isWrite(event) || event.stage !== 'served') return undefined;
  const { life } = event.exchange;
  const holder = model.leader.life;
  if (holder === undefined || holder === life) return undefined;
  return `${told(event)} of process ${life} was done while ${holder} led`;
});

/** Nobody writes who does not hold the Lease, or has not renewed it for the renew deadline. */
export const noWriteAfterLoss = stateless('no write after leadership is lost', (event, { model, rules }) => {
  if (!isElected(rules.plan) || !isWrite(event) || event.stage !== 'sent') return undefined;
  const { life } = event.exchange;
  const sentAt = model.exchanges.get(exchangeKey(event.exchange))?.sentAt ?? model.at;
  const renewedAt = model.leader.renewals.get(life);
  if (renewedAt === undefined) return `${told(event)} was sent by process ${life}, which never led`;
  const { renewDeadlineMs } = electionSettings(true);
  if (sentAt - renewedAt < renewDeadlineMs) return undefined;
  const seconds = ((sentAt - renewedAt) / 1_000).toFixed(1);
  return `${told(event)} was sent by process ${life} ${seconds} s after its last renewal`;
});

export const dryRunWritesNothing = stateless('a dry run writes nothing', (event, { rules }) =>
  rules.plan.dryRun && isWrite(event) ? `${told(event)} in a dry run` : undefined,
);
