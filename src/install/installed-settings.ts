import { optionalList, optionalObject } from '../kubernetes/api/decode.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { findHeldOf } from '../prober/held/index.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { type InstallContext, InstallError } from './context.ts';
import { changedRefs, refusalOf } from './settings-change.ts';
import { listInstalled } from './inventory.ts';
import { type KubeObject, componentLabel, configTexts, decodeKubeObject, nameOf } from './object.ts';

/** Returns the names of the ConfigMaps that the pods of a Deployment mount. */
export const mountedBy = ({ kind, spec }: KubeObject): readonly string[] => {
  if (kind !== 'Deployment') return [];
  const pod = optionalObject(optionalObject(optionalObject(spec, 'spec')?.template, 'template')?.spec, 'template.spec');
  return (optionalList(pod?.volumes, 'volumes') ?? []).flatMap((volume) => {
    const { name } = optionalObject(optionalObject(volume, 'volume')?.configMap, 'configMap') ?? {};
    return typeof name === 'string' ? [name] : [];
  });
};

export const createdAt = ({ metadata }: KubeObject): number => Date.parse(String(metadata.creationTimestamp));

/** Returns the ConfigMaps of the prober: first the mounted ones, then former ones, which Helm keeps, the latest first. */
const configMapsOf = (owned: readonly KubeObject[]): readonly KubeObject[] => {
  const mounted = new Set(owned.flatMap(mountedBy));
  const isMounted = ({ metadata }: KubeObject): number => Number(mounted.has(metadata.name));
  return owned
    .filter(({ kind }) => kind === 'ConfigMap')
    .toSorted((a, b) => isMounted(b) - isMounted(a) || createdAt(b) - createdAt(a));
};

/** Parses the configurations in a ConfigMap. Throws an InstallError for an invalid one: it defines which resources a prober holds, and their order. */
const settingsIn = (object: KubeObject): readonly ProberSettings[] =>
  configTexts(object).map((text) => {
    const { settings } = proberConfig.load(text, { unknownFields: 'warning' });
    if (settings !== undefined) return settings;
    throw new InstallError(`${nameOf(object)} contains no valid configuration`, [
      'it defines which resources to restore, and in which order; if no prober has run with it, delete it',
    ]);
  });

/** Parses all installed configurations of the prober. There are several versions while one takes over from another. */
const allSettings = (owned: readonly KubeObject[]): readonly ProberSettings[] =>
  configMapsOf(owned).flatMap(settingsIn);

/** Merges the configurations of all versions into one. Returns Gardener's default if there is none. Throws an InstallError. */
export const installedSettings = (owned: readonly KubeObject[]): ProberSettings => {
  const [first = proberConfig.load(proberConfig.defaultText, { unknownFields: 'warning' }).settings, ...others] =
    allSettings(owned);
  if (first === undefined) throw new Error("Gardener's configuration is not valid");
  const dependents = [first, ...others].flatMap(({ dependentResources }) => dependentResources);
  const byRef = new Map(dependents.toReversed().map((dependent) => [refKey(dependent.ref), dependent]));
  return { ...first, dependentResources: [...byRef.values()] };
};

/**
 * Throws an InstallError for a configuration under which no prober would restore held resources: one that is reconfigured while it runs still does, but one
 * that starts with it does not know them.
 */
export const refuseDropping = async (
  wanted: ProberSettings,
  namespace: string,
  context: InstallContext,
): Promise<void> => {
  const owned = await listInstalled({ namespace, components: ['prober'] }, context);
  const change = { wanted, former: allSettings(owned) };
  const refs = changedRefs(change);
  if (refs.length === 0) return;
  const held = await findHeldOf({ client: context.client, signal: context.signal, refs });
  const refusal = refusalOf(held, change);
  if (refusal !== undefined) throw new InstallError(refusal.message, refusal.details);
};

export interface InstalledConfiguration {
  readonly settings: ProberSettings;
  /** True if a configuration is installed. If not, `settings` are Gardener's defaults. */
  readonly isInstalled: boolean;
}

/** Same as `installedSettings`, from the ConfigMaps alone, for users who may read no more. Throws an ApiError or an InstallError. */
export const installedConfiguration = async (
  namespace: string,
  { client, options }: { readonly client: KubeClient; readonly options: CallOptions },
): Promise<InstalledConfiguration> => {
  const path = resourcePath({ apiVersion: 'v1', resource: 'configmaps', namespace });
  const query = { labelSelector: `${componentLabel}=prober` };
  const decode = decodeKubeObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  const { value } = await client.call(listCall({ path, query, decode }), options);
  const isInstalled = configMapsOf(value).some((object) => configTexts(object).length > 0);
  return { settings: installedSettings(value), isInstalled };
};
