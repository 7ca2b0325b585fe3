import { refKey } from '../kubernetes/api/resource-ref.ts';
import { type ScalableObject, decodeScalable } from '../kubernetes/api/scalable.ts';
import {
  type DependentSource,
  type WatchByName,
  type WatchByNameDeps,
  watchByName,
} from '../kubernetes/cache/index.ts';
import type { Gauge } from '../ports/meter.ts';
import type { DependentResource } from './settings.ts';

export interface WatchDeps extends WatchByNameDeps {
  /** By `resource`: 1 while a dependent resource cannot be scaled because the API server does not serve its kind. */
  readonly unserved: Gauge;
}

export interface WatchedDependent
  extends DependentSource,
    Pick<WatchByName<ScalableObject>, 'run' | 'problem' | 'awayMs'> {
  /** `refKey` of the resource. */
  readonly key: string;
}

/** One dependent resource of all shoots. */
export const watchDependent = ({ ref }: DependentResource, deps: WatchDeps): WatchedDependent => {
  const key = refKey(ref);
  const watched = watchByName(
    {
      ref,
      key,
      project: (json) => decodeScalable(json, ref.kind),
      needsScale: true,
      onServed: (answer, before) => {
        deps.unserved.set(answer.kind === 'not-served' ? 1 : 0, { resource: key });
        if (answer.kind !== 'not-served' || before.kind === 'not-served') return;
        deps.logger.error('a dependent resource cannot be scaled', { resource: key, problem: answer.problem });
      },
    },
    deps,
  );
  return { key, ...watched };
};
