import type { Logger } from '../../ports/logger.ts';

const wayOut = 'a prober must come back, or restore them with dwd release --shoot NAMESPACE when the outage is over';
/** Maximum number of shoots in one line of the log. */
const mostNamed = 20;

/** Logs the resources that stay held when the prober stops. */
export const logStopped = (logger: Logger, held: ReadonlyMap<string, number>): void => {
  const resources = [...held.values()].reduce((sum, count) => sum + count, 0);
  const those = `${resources} ${resources === 1 ? 'resource' : 'resources'} of ${held.size} ${held.size === 1 ? 'shoot' : 'shoots'}`;
  const namespaces = [...held.keys()].toSorted();
  logger.warn(`stopping: ${those} stay held; ${wayOut}`, { resources, namespaces: namespaces.slice(0, mostNamed) });
};
