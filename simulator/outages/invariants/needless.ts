import { stateless } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** A kubelet that has renewed within this time, in milliseconds, gets through: it renews every 10 s. */
const renewedMs = 11_000;
/** A kubelet that was silent until this time ago, in milliseconds, may come back between the verdict and the last level: the outage was one. */
const returnedMs = 5_000;

/** No Deployment is scaled down in a shoot most of whose kubelets renew their leases, whatever the watchdog may have seen. */
export const noNeedlessScaleDown = stateless('no scale-down while kubelets renew', (event, { model, rules }) => {
  const write = watchdogWrite(event);
  if (write?.direction !== 'down') return undefined;
  const shoot = model.shoots.get(write.shoot);
  if (shoot === undefined) return undefined;
  const ages = [...shoot.nodes]
    .filter(([node, { isCandidate }]) => isCandidate && shoot.machines.has(node))
    .flatMap(([node]) => {
      const changedAt = shoot.leases.get(node);
      const before = shoot.earlier.get(node) ?? Number.POSITIVE_INFINITY;
      if (changedAt === undefined) return [];
      const hasJustReturned = model.at - changedAt < returnedMs && changedAt - before >= rules.limitMs(write.shoot);
      return [model.at - (hasJustReturned ? before : changedAt)];
    });
  const silent = ages.filter((ageMs) => ageMs >= renewedMs).length;
  if (ages.length < 2 || silent / ages.length >= rules.fraction) return undefined;
  return `${write.shoot}: ${write.name} was scaled down although ${String(ages.length - silent)} of ${String(ages.length)} kubelets renew`;
});
