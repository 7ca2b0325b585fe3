import {
  type JsonObject,
  type ObjectMeta,
  decodeMeta,
  decodeObject,
  optionalInteger,
  optionalObject,
} from '../kubernetes/api/decode.ts';
import { type Condition, decodeConditions } from './condition.ts';
import type { Generations } from './generations.ts';

/** Common fields of objects that report their state as conditions. */
export interface HealthView extends Generations {
  readonly meta: ObjectMeta;
  readonly conditions: readonly Condition[];
}

/** Parts of an object during decoding; absent parts are empty. */
export interface ObjectParts {
  readonly view: HealthView;
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly path: string;
}

export const decodeParts = (json: unknown, path: string): ObjectParts => {
  const object = decodeObject(json, path);
  const meta = decodeMeta(object, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const view: HealthView = {
    meta,
    generation: meta.generation ?? 0,
    observedGeneration: optionalInteger(status.observedGeneration, `${path}.status.observedGeneration`) ?? 0,
    conditions: decodeConditions(status, `${path}.status`),
  };
  return { view, spec: optionalObject(object.spec, `${path}.spec`) ?? {}, status, path };
};

/** Reads a count from the status. It is 0 if absent, because Go omits 0. */
export const decodeCount = ({ status, path }: ObjectParts, field: string): number =>
  optionalInteger(status[field], `${path}.status.${field}`) ?? 0;
