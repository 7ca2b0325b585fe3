import { type ObjectMeta, decodeMeta, decodeObject } from '../../kubernetes/api/decode.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ScalableObject, decodeScalable } from '../../kubernetes/api/scalable.ts';
import { type DependentSource, type KindWatch, type WatchKindDeps, watchKind } from '../../kubernetes/cache/index.ts';
import type { Gauge } from '../../ports/meter.ts';
import { type RefTemplate, isTemplate, placeholderValue } from '../config/ref-template.ts';
import type { DependentResource } from '../config/settings.ts';

export interface WatchDeps extends WatchKindDeps {
  /** Gauge by `resource`: 1 while a dependent resource cannot be scaled because the API server does not serve its kind. */
  readonly unserved: Gauge;
}

export interface WatchedDependent
  extends DependentSource,
    Pick<KindWatch<ScalableObject>, 'run' | 'problem' | 'interruptedMs'> {
  /** `refKey` of the resource. */
  readonly key: string;
  readonly ref: RefTemplate;
  /** See `DependentResource`. */
  readonly restoreOnly: boolean;
}

/** Drops the content of an object whose name does not fit the template: a watch of all names shows it, and nobody looks it up. */
const identityOf = ({ name, namespace, uid, resourceVersion, deleting }: ObjectMeta): ScalableObject => ({
  meta: { name, namespace, uid, resourceVersion, deleting, labels: {}, annotations: {} },
});

/** Watches one dependent resource of all shoots. */
export const watchDependent = (resource: DependentResource, deps: WatchDeps): WatchedDependent => {
  const { ref, restoreOnly = false } = resource;
  const key = refKey(ref);
  // The configuration no longer names a resource that is only restored.
  if (restoreOnly) deps.unserved.remove({ resource: key });
  const watched = watchKind(
    {
      ref,
      ofAnyName: isTemplate(ref.name),
      key,
      project: (json) => {
        const decode = () => decodeScalable(json, ref.kind);
        if (!isTemplate(ref.name)) return decode();
        const meta = decodeMeta(decodeObject(json, ref.kind), ref.kind);
        return placeholderValue(ref.name, meta.name) === undefined ? identityOf(meta) : decode();
      },
      onServed: (result, before) => {
        if (!restoreOnly) deps.unserved.set(result.kind === 'not-served' ? 1 : 0, { resource: key });
        if (result.kind !== 'not-served' || before.kind === 'not-served') return;
        deps.logger.error('a dependent resource cannot be scaled', { resource: key, problem: result.problem });
      },
    },
    deps,
  );
  return { key, ref, restoreOnly, ...watched };
};
