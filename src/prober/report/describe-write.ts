import { shorten } from '../../kubernetes/api/shorten.ts';
import { type Write, effectOf } from '../plan/patch-plan.ts';

/** Returns the fields that a write changes, for the log. */
export const writeFields = (write: Write): Readonly<Record<string, unknown>> => {
  const { base, replicas, annotations = {} } = write;
  if (effectOf(write) === undefined) return { annotations };
  if (replicas !== undefined) return { from: base.specReplicas, to: replicas };
  if (base.annotation === undefined) return { annotations };
  const { key } = base.annotation;
  return { annotation: key, from: shown(base.annotations[key]), to: shown(annotations[key]) };
};

/** Returns the value of an annotation; null if there is none. */
const shown = (value: string | null | undefined): string | null =>
  value === undefined || value === null ? null : shorten(value);

const quoted = (value: string | null): string => (value === null ? 'removed' : `set to ${JSON.stringify(value)}`);

/** Returns the word for a write in the log. */
export const writeVerb = (write: Write): string => {
  const effect = effectOf(write);
  if (effect === undefined || write.base.annotation === undefined) {
    if (effect === undefined) return 'annotated';
    return effect === 'down' ? 'scaled down' : 'scaled up';
  }
  return effect === 'down' ? 'set an annotation' : 'restored an annotation';
};

interface WriteDescription {
  /** `what`: name of the stored value. `restored`: the value that is restored if the stored one cannot be read. */
  readonly what: string;
  readonly restored: string;
  /** A change by another writer: the changed field, its value for the log, and a description. */
  readonly changed: string;
  readonly seen: Readonly<Record<string, unknown>>;
  readonly undone: string;
  /** Reasons of the Event, without the prefix. */
  readonly event: Readonly<Record<'down' | 'up', string>>;
  readonly done: string;
}

export const describeWrite = (write: Write): WriteDescription => {
  const { base, replicas = base.specReplicas, annotations = {} } = write;
  if (base.annotation === undefined) {
    const isDown = replicas === 0;
    return {
      what: 'number of replicas',
      restored: '1',
      changed: 'replicas',
      seen: { replicas: base.specReplicas },
      undone: `set replicas to ${String(base.specReplicas)}`,
      event: { down: 'ScaledDown', up: 'ScaledUp' },
      done: `Scaled ${isDown ? 'down' : 'up'} from ${String(base.specReplicas)} to ${String(replicas)} replicas`,
    };
  }
  const { key } = base.annotation;
  const [before, after] = [shown(base.annotations[key]), shown(annotations[key])];
  return {
    what: 'value of the annotation',
    restored: 'none',
    changed: 'an annotation',
    seen: { annotation: key, value: before },
    undone: `${quoted(before)} the annotation ${key}`,
    event: { down: 'Annotated', up: 'AnnotationRestored' },
    done: `Annotation ${key} ${quoted(after)}`,
  };
};
