import type { ComponentName } from '../../config/index.ts';
import { installationLabels } from '../../install/index.ts';
import type { SettingsByComponent } from '../configs.ts';
import type { PolicyRule } from './rights.ts';
import type { InstallationValues } from './values.ts';

/** `plain`: any cluster. `gardener-seed`: a seed of Gardener, with the labels that its network policies, webhooks and Prometheus look for. */
export const profiles = ['plain', 'gardener-seed'] as const;
export type Profile = (typeof profiles)[number];

/** A configuration and what follows from it. */
export interface ParsedConfiguration<Settings> {
  readonly text: string;
  /** The first 8 hexadecimal digits of the SHA-256 of `text`. */
  readonly hash: string;
  readonly settings: Settings;
  /** The rights in the seed that it demands, in all namespaces. */
  readonly rules: readonly PolicyRule[];
  /** The limit of V8's heap that fits the memory limit of the container. */
  readonly heapLimitMiB: number;
}

export type Configurations = { readonly [Name in ComponentName]: ParsedConfiguration<SettingsByComponent[Name]> };

/** What an installation is made of, checked and complete. From this, and this alone, its objects follow. */
export interface Installation extends Configurations {
  readonly profile: Profile;
  readonly namespace: string;
  readonly namePrefix: string;
  readonly image: string;
  readonly replicas: number;
  readonly values: InstallationValues;
}

export const rbacGroup = 'rbac.authorization.k8s.io';

/** The name of what belongs to a component, in a namespace. */
export const nameOf = ({ namePrefix }: Installation, component: string): string => `${namePrefix}${component}`;

/** The name of a cluster-wide object. It has the namespace in it, so that two installations in one cluster do not share it. */
export const clusterWideNameOf = (installation: Installation, component: string): string =>
  `dependency-watchdog.gardener.cloud:${installation.namespace}:${nameOf(installation, component)}`;

/** The name of the ServiceAccount of a component, as the API server writes a user. */
export const userOf = (installation: Installation, component: ComponentName): string =>
  `system:serviceaccount:${installation.namespace}:${nameOf(installation, component)}`;

type Labels = Readonly<Record<string, string>>;

/** On every object that is printed. `app` alone selects the pods. */
export const labelsOf = (installation: Installation, component: string): Labels => ({
  app: nameOf(installation, component),
  'app.kubernetes.io/name': 'dependency-watchdog',
  'app.kubernetes.io/component': component,
});

/** On every object of the seed: `dwd install` and `dwd uninstall` find it by these, also if Helm or kubectl made it. */
export const seedLabelsOf = (installation: Installation, component: string): Labels => ({
  ...labelsOf(installation, component),
  ...installationLabels({ namespace: installation.namespace, component }),
});
