import type { ProcessName, SimEvent, Writer } from './history.ts';
import type { Fault, Plan } from './plan.ts';
import type { Run } from './run.ts';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(3).padStart(8)} s`;

const tellFault = ({ kind, ...rest }: Fault): string => {
  const details = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  );
  return [kind, ...details].join(', ');
};

const tellWatchdogs = ({
  component,
  source,
  replicas,
  elected,
  dryRun,
  outside,
  watchDurationMs,
  quickPods,
}: Plan): string =>
  [
    `${String(replicas)} ${component}${replicas === 1 ? '' : 's'}`,
    ...(source === undefined ? [] : [`source ${source}`]),
    ...(elected ? ['elected by a Lease'] : []),
    ...(dryRun ? ['dry run'] : []),
    ...(outside === undefined ? [] : [`external probe: ${outside}`]),
    ...(watchDurationMs === undefined ? [] : [`weedings of ${String(watchDurationMs / 1_000)} s`]),
    ...(quickPods === true ? ['quick pods'] : []),
  ].join(', ');

/** Formats the world and the faults of a plan as lines. */
export const formatPlan = (plan: Plan): readonly string[] => [
  `${tellWatchdogs(plan)}, requests take up to ${String(plan.latencyMs)} ms`,
  ...plan.shoots.map(({ name, nodes, graceMs, replicas: counts }) => {
    const grace = graceMs === undefined ? '' : `, grace ${String(graceMs / 1_000)} s`;
    const deployments = Object.entries(counts).map(([deployment, count]) => `${deployment} ${String(count)}`);
    return `shoot ${name}: ${String(nodes)} nodes${grace}, ${deployments.join(', ')}`;
  }),
  ...plan.faults.map(({ at, forMs, fault }) => `${seconds(at)} for ${seconds(forMs).trim()}: ${tellFault(fault)}`),
];

const tellWriter = (writer: Writer): string => (writer === 'world' ? 'the world' : `process ${writer.process}`);

type DeploymentEvent = Extract<SimEvent, { kind: 'deployment' }>;

const tellFacts = (facts: DeploymentEvent['after']): string => {
  if (facts === undefined) return 'absent';
  const marks = `${facts.isHeld ? ', held' : ''}${facts.isIgnored ? ', ignored' : ''}`;
  return `${String(facts.replicas)}${facts.stored === undefined ? '' : `, stored ${facts.stored}`}${marks}`;
};

const tellPod = ({ shoot, name, before, after, writer }: Extract<SimEvent, { kind: 'pod' }>): string | undefined => {
  const what = `${shoot}: pod ${name}`;
  if (after === undefined) return `${what} is gone`;
  if (before === undefined) return `${what} is there`;
  if (after.isDeleting && !before.isDeleting) return `${what} is deleted by ${tellWriter(writer)}`;
  if (after.isCrashLooping === before.isCrashLooping) return undefined;
  return `${what} ${after.isCrashLooping ? 'crash-loops' : 'no longer crash-loops'}`;
};

type RequestEvent = Extract<SimEvent, { kind: 'request' }>;

/** Formats the outcome of a read of a shoot, and each stage of a write; undefined for all other requests. */
const tellRequest = ({ stage, process, verb, resource, name, status, shoot }: RequestEvent): string | undefined => {
  const what = [verb, resource, name, shoot === undefined ? undefined : `of ${shoot}`].filter(
    (part) => part !== undefined,
  );
  const isRead = verb === 'get' || verb === 'list' || verb === 'watch';
  if (verb === 'watch' || (isRead && (stage === 'sent' || stage === 'served' || shoot === undefined))) return undefined;
  if (resource === 'leases' && verb !== 'list') return undefined;
  const outcome = stage === 'answered' ? `answered ${String(status ?? 0)}` : stage;
  return `process ${process}: ${what.join(' ')}: ${outcome}`;
};

const tellEvent = (event: SimEvent, leader: ProcessName | undefined): string | undefined => {
  switch (event.kind) {
    case 'fault':
      return `${event.phase.toUpperCase()} ${tellFault(event.planned.fault)}`;
    case 'process':
      return `process ${event.process} ${event.what}`;
    case 'deployment': {
      const { shoot, name, before, after, writer } = event;
      return `${shoot}: ${name} ${tellFacts(before)} -> ${tellFacts(after)} by ${tellWriter(writer)}`;
    }
    case 'node':
      return event.isGivenUp ? `${event.shoot}: node ${event.node} is given up` : undefined;
    case 'cluster':
      return `${event.shoot}: its Cluster, or Secret, says: ${event.phase}`;
    case 'leader':
      return event.writer !== 'world' && event.writer.process !== leader
        ? `${tellWriter(event.writer)} leads`
        : undefined;
    case 'request':
      return tellRequest(event);
    case 'pod':
      return tellPod(event);
    case 'service':
      return `${event.shoot}: service ${event.name} is ${event.isReady ? '' : 'not '}ready`;
    case 'healed':
      return 'no fault is left';
    case 'lease':
    case 'settled':
    case 'at rest':
    case 'tick':
    case 'over':
      return undefined;
  }
};

const linesAtMost = 120;

/** Formats the events up to the violation as lines. If there are too many, only the last ones remain. */
export const formatTrace = (events: readonly SimEvent[]): readonly string[] => {
  const lines: string[] = [];
  let leader: ProcessName | undefined;
  for (const event of events) {
    if (event.at === 0 && event.kind !== 'process') continue;
    const line = tellEvent(event, leader);
    if (event.kind === 'leader' && event.writer !== 'world') {
      leader = event.holder === '' ? undefined : event.writer.process;
    }
    if (line !== undefined) lines.push(`${seconds(event.at)}  ${line}`);
  }
  const left = lines.length - linesAtMost;
  return left > 0 ? [`(${String(left)} lines before)`, ...lines.slice(left)] : lines;
};

/** Formats a failure for people: how to replay it, the simplest plan found, and the trace of that plan. */
export const formatFailure = (failed: Run, simplest: Run): readonly string[] => {
  const { violation } = simplest;
  return [
    `seed ${String(failed.plan.seed)}: ${failed.violation?.invariant ?? ''}: ${failed.violation?.problem ?? ''}`,
    `see it again: make simulate SEED=${String(failed.plan.seed)}`,
    '',
    `The simplest plan found (${String(simplest.plan.faults.length)} of ${String(failed.plan.faults.length)} faults):`,
    ...formatPlan(simplest.plan).map((line) => `  ${line}`),
    '',
    'What happened:',
    ...formatTrace(simplest.events).map((line) => `  ${line}`),
    `  ${seconds(violation?.at ?? 0)}  ${violation?.invariant.toUpperCase() ?? ''}: ${violation?.problem ?? ''}`,
  ];
};
