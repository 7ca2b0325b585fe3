import type { ComponentName } from '../../config/index.ts';
import { installationLabels } from '../../install/index.ts';
import type { SettingsByComponent } from '../configs.ts';
import type { PolicyRule } from './rights.ts';
import type { InstallationValues } from './values.ts';

/** `plain`: any cluster. `gardener-seed`: a seed of Gardener, with the labels that its network policies, webhooks and Prometheus select. */
export const profiles = ['plain', 'gardener-seed'] as const;
export type Profile = (typeof profiles)[number];

/** A configuration and the values derived from it. */
export interface ParsedConfiguration<Settings> {
  readonly text: string;
  /** The first 8 hexadecimal digits of the SHA-256 of `text`. */
  readonly hash: string;
  readonly settings: Settings;
  /** Rights that the configuration needs in all namespaces of the seed. */
  readonly rules: readonly PolicyRule[];
  /** Limit of V8's heap that fits the memory limit of the container. */
  readonly heapLimitMiB: number;
}

export type Configurations = { readonly [Name in ComponentName]: ParsedConfiguration<SettingsByComponent[Name]> };

/** The validated and complete definition of an installation. All objects are derived from it alone. */
export interface Installation extends Configurations {
  readonly profile: Profile;
  readonly namespace: string;
  readonly namePrefix: string;
  readonly image: string;
  readonly replicas: number;
  readonly values: InstallationValues;
}

export const rbacGroup = 'rbac.authorization.k8s.io';

/** Returns the name of a component's namespaced objects. */
export const nameOf = ({ namePrefix }: Installation, component: string): string => `${namePrefix}${component}`;

/** Returns the name of a component's cluster-scoped objects. It contains the namespace, so that two installations in one cluster do not share them. */
export const clusterWideNameOf = (installation: Installation, component: string): string =>
  `dependency-watchdog.gardener.cloud:${installation.namespace}:${nameOf(installation, component)}`;

/** Returns the user name of a component's ServiceAccount. */
export const userOf = (installation: Installation, component: ComponentName): string =>
  `system:serviceaccount:${installation.namespace}:${nameOf(installation, component)}`;

type Labels = Readonly<Record<string, string>>;

/** Returns the labels of every printed object. `app` alone selects the pods. */
export const labelsOf = (installation: Installation, component: string): Labels => ({
  app: nameOf(installation, component),
  'app.kubernetes.io/name': 'dependency-watchdog',
  'app.kubernetes.io/component': component,
});

/** Returns the labels of every object in the seed. `dwd install` and `dwd uninstall` find objects by these, even if Helm or kubectl created them. */
export const seedLabelsOf = (installation: Installation, component: string): Labels => ({
  ...labelsOf(installation, component),
  ...installationLabels({ namespace: installation.namespace, component }),
});
