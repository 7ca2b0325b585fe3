import { type PreflightCheck, type SeedRead, countWell, perShoot, share, whenRead } from './check.ts';
import type { ShootToProbe } from './shoots.ts';

/** A Secret with a kubeconfig. `problem`: reason why the prober cannot use it, without any value of the Secret. */
export type SeenSecret = { readonly kind: 'usable' } | { readonly kind: 'unusable'; readonly problem: string };

export interface SecretsInput {
  readonly secretName: string;
  /** True for the Secret of the external probe, which protection does not depend on. */
  readonly isExternal: boolean;
  readonly shoots: readonly ShootToProbe[];
  /** Secrets by namespace. */
  readonly secrets: SeedRead<ReadonlyMap<string, SeenSecret>>;
}

/** Checks that each shoot has the Secret with its kubeconfig, and that the prober can use it. */
export const checkSecrets = ({ secretName, isExternal, shoots, secrets }: SecretsInput): PreflightCheck =>
  whenRead(secrets, { subject: 'secrets', name: secretName }, (seen) => {
    const findings = perShoot(shoots, ({ namespace: shoot }) => {
      const secret = seen.get(shoot);
      if (secret?.kind === 'usable') return undefined;
      if (secret === undefined) {
        const code = isExternal ? 'external-secret' : 'secret-missing';
        return { code, shoot, detail: `there is no Secret ${secretName}` };
      }
      return { code: isExternal ? 'external-secret' : 'secret-unusable', shoot, detail: secret.problem };
    });
    return { detail: share('usable in', countWell(shoots.length, findings), shoots.length), findings };
  });
