import type { TemplateContainer } from '../../gardener/kube-controller-manager.ts';
import { ignoreScalingAnnotation, ignoresScaling } from '../../gardener/scaling-annotations.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { type PreflightCheck, type SeedRead, countWell, perShoot, share, whenRead } from './check.ts';
import type { ShootToProbe } from './shoots.ts';

/** A resource of one shoot. */
export interface SeenResource {
  readonly annotations: Readonly<Record<string, string>>;
  /** Of its pod template; empty for kinds without one. */
  readonly containers: readonly TemplateContainer[];
}

/** A resource of all shoots, by namespace. */
export type SeenResources = ReadonlyMap<string, SeenResource>;

export interface DependentInput {
  readonly ref: ResourceRef;
  readonly optional: boolean;
  readonly shoots: readonly ShootToProbe[];
  readonly seen: SeedRead<SeenResources>;
}

/** Has each shoot the dependent resource, unless it is optional, and may the prober scale it? */
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

/** Has each shoot what runs its API server, under the name that the configuration says? */
export const checkApiServerRef = ({ ref, shoots, seen }: Omit<DependentInput, 'optional'>): PreflightCheck =>
  whenRead(seen, { subject: 'dependent resources', name: `apiServerRef ${refKey(ref)}` }, (resources) => {
    const findings = perShoot(shoots, ({ namespace: shoot }) =>
      resources.has(shoot) ? undefined : { code: 'api-server-ref', shoot, detail: `there is no ${refKey(ref)}` },
    );
    return { detail: share('in', countWell(shoots.length, findings), shoots.length), findings };
  });
