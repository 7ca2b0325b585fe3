import type { TemplateContainer } from '../../gardener/kube-controller-manager.ts';
import { ignoreScalingAnnotation, ignoresScaling } from '../../annotations/scaling-annotations.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { type PreflightCheck, type SeedRead, perShoot, share, whenRead } from './check.ts';
import type { ShootToProbe } from './shoots.ts';

/** A resource of one shoot. */
export interface SeenResource {
  readonly annotations: Readonly<Record<string, string>>;
  /** Containers of its pod template. Empty for kinds without one. */
  readonly containers: readonly TemplateContainer[];
}

/** One resource in all shoots, by namespace. */
export type SeenResources = ReadonlyMap<string, SeenResource>;

export interface DependentInput {
  readonly ref: ResourceRef;
  readonly optional: boolean;
  readonly shoots: readonly ShootToProbe[];
  readonly seen: SeedRead<SeenResources>;
}

/** Checks that each shoot has the dependent resource, unless it is optional, and that no annotation keeps the prober from scaling it. */
export const checkDependent = ({ ref, optional, shoots, seen }: DependentInput): PreflightCheck =>
  whenRead(seen, { subject: 'dependent resources', name: refKey(ref) }, (resources) => {
    const isThere = ({ namespace }: ShootToProbe): boolean => resources.has(namespace);
    const missing = perShoot(optional ? [] : shoots, (shoot) =>
      isThere(shoot)
        ? undefined
        : { code: 'dependent-missing', shoot: shoot.namespace, detail: `there is no ${refKey(ref)}` },
    );
    const ignored = perShoot(shoots, ({ namespace }) => {
      const resource = resources.get(namespace);
      if (resource === undefined || !ignoresScaling(resource)) return undefined;
      const detail = `${refKey(ref)} has the annotation ${ignoreScalingAnnotation}`;
      return { code: 'dependent-ignored', shoot: namespace, detail };
    });
    const there = share('in', shoots.filter(isThere).length, shoots.length);
    return { detail: `${there}${optional ? '; it is optional' : ''}`, findings: [...missing, ...ignored] };
  });
