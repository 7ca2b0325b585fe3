import type { Plan, PlannedFault } from '../../simulator/outages/plan.ts';
import { runPlan } from '../../simulator/outages/run.ts';
import { kubeControllerManager } from '../../simulator/world/index.ts';

/** What somebody outside of the prober sees of a run. Sums over its shoots. */
export interface Outcome {
  /** Nodes that turned Unknown. */
  readonly nodes: number;
  /** Machines that MCM replaced, except those that the plan itself makes Failed. */
  readonly machines: number;
  /** Controllers that were scaled down without an outage. */
  readonly stopped: number;
  /** Seconds for which KCM was held without an outage. */
  readonly kcmSeconds: number;
  /** Requests up to the end of the plan. */
  readonly requests: number;
  /** Times that KCM was restored. */
  readonly kcmStarts: number;
}

export const noOutcome: Outcome = { nodes: 0, machines: 0, stopped: 0, kcmSeconds: 0, requests: 0, kcmStarts: 0 };

const names = Object.keys(noOutcome) as (keyof Outcome)[];

export const add = (a: Outcome, b: Outcome, sign: 1 | -1 = 1): Outcome => ({
  ...a,
  ...Object.fromEntries(names.map((name) => [name, a[name] + sign * b[name]])),
});

/** A shorter cut makes no node Unknown, in milliseconds: it is not an outage. */
const shortestMs = 30_000;
/** A kubelet renews within this time after the end of a cut, in milliseconds. */
const renewedMs = 10_000;

/** True if at least half of the shoot's kubelets are cut off, or were until a moment ago. */
const isOutage = ({ faults, shoots }: Plan, shoot: string, at: number): boolean => {
  const { nodes = 0 } = shoots.find(({ name }) => name === shoot) ?? {};
  const isCut = ({ at: from, forMs, fault }: PlannedFault): boolean => {
    if (forMs < shortestMs || at < from || at >= from + forMs + renewedMs) return false;
    if (fault.kind === 'load-balancer') return (fault.shoot ?? shoot) === shoot;
    return fault.kind === 'nat-gateway' && fault.shoot === shoot && fault.nodes.length >= nodes / 2;
  };
  return faults.some(isCut);
};

/** Number of machines that the plan makes Failed: MCM replaces them whenever it runs, whatever the prober does. */
const failedBy = ({ faults }: Plan): number =>
  faults.reduce((sum, { fault }) => {
    const isFailure = fault.kind === 'not-candidates' && fault.how === 'machine-failed';
    return isFailure ? sum + fault.nodes.length : sum;
  }, 0);

/** Plays a plan to its end, whatever invariants it violates. */
export const outcomeOf = async (plan: Plan): Promise<Outcome> => {
  const { events, impact } = await runPlan(plan, []);
  const endsAt = plan.faultsMs + plan.quietMs;
  const heldKcms = new Set<string>();
  let [stopped, kcmMs, requests, kcmStarts] = [0, 0, 0, 0];
  let passedAt = 0;
  for (const event of events) {
    if (event.kind === 'settled') break;
    for (const shoot of heldKcms) if (!isOutage(plan, shoot, passedAt)) kcmMs += event.at - passedAt;
    passedAt = event.at;
    if (event.kind === 'request' && event.stage === 'sent' && event.at < endsAt) requests += 1;
    if (event.kind !== 'deployment') continue;
    const { shoot, name, writer, before, after } = event;
    const [was = 0, is = 0] = [before?.replicas, after?.replicas];
    if (writer !== 'world' && was > 0 && is === 0 && !isOutage(plan, shoot, event.at)) stopped += 1;
    if (name !== kubeControllerManager) continue;
    if (writer !== 'world' && was === 0 && is > 0) kcmStarts += 1;
    if (is === 0 && after?.isHeld === true) heldKcms.add(shoot);
    else heldKcms.delete(shoot);
  }
  return {
    nodes: impact.nodesTurnedUnknown,
    machines: Math.max(0, impact.machinesReplaced - failedBy(plan)),
    stopped,
    kcmSeconds: Math.round(kcmMs / 1_000),
    requests,
    kcmStarts,
  };
};
