import type { SimEvent, Writer } from './history.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(3).padStart(8)} s`;

/** Formats properties like `shoot a, replicas 2`, and omits those that are absent. */
const tell = (properties: object): string =>
  Object.entries(properties)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) =>
      value === true ? name : `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(', ');

/** Formats the world and the faults of a plan as lines. */
export const formatPlan = ({ seed: _, shoots, faults, ...watchdogs }: Plan): readonly string[] => [
  tell(watchdogs),
  ...shoots.map(tell),
  ...faults.map(({ at, forMs, fault }) => `${seconds(at)} for ${seconds(forMs).trim()}: ${tell(fault)}`),
];

const writerOf = (writer: Writer): string => (writer === 'world' ? 'the world' : `process ${writer.process}`);

/** Formats an event; undefined for one that explains nothing, such as a renewal. Of requests only outcomes of reads of a shoot and of writes count. */
const tellEvent = (event: SimEvent): string | undefined => {
  switch (event.kind) {
    case 'fault':
      return `${event.phase.toUpperCase()} ${tell(event.planned.fault)}`;
    case 'node given up':
      return `${event.shoot}: node ${event.node} is given up`;
    case 'deployment': {
      const { shoot, name, before = {}, after = {}, writer } = event;
      const [from, to] = [tell(before), tell(after)];
      return from === to ? undefined : `${shoot}: ${name} (${from}) -> (${to}) by ${writerOf(writer)}`;
    }
    case 'request': {
      const { stage, process, verb, resource, name, status, shoot } = event;
      const isRead = verb === 'get' || verb === 'list';
      const isOutcome = stage === 'answered' || stage === 'failed';
      if (verb === 'watch' || (resource === 'leases' && verb !== 'list')) return undefined;
      if (isRead && (!isOutcome || shoot === undefined)) return undefined;
      return `process ${process}: ${verb} ${resource} ${tell({ name, shoot, [stage]: status ?? true })}`;
    }
    case 'process':
    case 'cluster':
    case 'healed': {
      const { kind, at: _, ...rest } = event;
      return `${kind} ${tell(rest)}`;
    }
    case 'lease':
    case 'leader':
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
  const lines = events.flatMap((event) => {
    const line = event.at === 0 && event.kind !== 'process' ? undefined : tellEvent(event);
    return line === undefined ? [] : [`${seconds(event.at)}  ${line}`];
  });
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
