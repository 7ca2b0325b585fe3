import { decodeMeta, decodeObject, decodeString, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { type CommandContext, CommandError } from '../process/index.ts';

/** Labels of the ConfigMaps with configurations of the prober, as the chart sets them. */
const labelSelector = 'app.kubernetes.io/name=dependency-watchdog,app.kubernetes.io/component=prober';

/** A ConfigMap of the prober. */
interface StoredConfiguration {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly texts: readonly string[];
}

const decodeStoredConfiguration = (json: unknown, path: string): StoredConfiguration => {
  const object = decodeObject(json, path);
  const { name } = decodeMeta(object, path);
  const { creationTimestamp } = decodeObject(object.metadata, `${path}.metadata`);
  const data = object.data === undefined ? {} : decodeObject(object.data, `${path}.data`);
  return {
    name,
    createdAt: Date.parse(
      optionalString(creationTimestamp, `${path}.metadata.creationTimestamp`) ?? '1970-01-01T00:00:00Z',
    ),
    texts: Object.entries(data).map(([key, text]) => decodeString(text, `${path}.data.${key}`)),
  };
};

/** Throws a CommandError for an invalid configuration: it defines which resources a prober holds, and their order. */
const settingsIn = ({ name, texts }: StoredConfiguration): readonly ProberSettings[] =>
  texts.map((text) => {
    const { settings } = proberConfig.load(text, { unknownFields: 'warning' });
    if (settings !== undefined) return settings;
    throw new CommandError(`ConfigMap ${name} contains no valid configuration`, [
      'it defines which resources to restore, and in which order; if no prober has run with it, delete it',
    ]);
  });

export interface InstalledConfiguration {
  readonly settings: ProberSettings;
  /** True if a configuration is installed. If not, `settings` are Gardener's defaults. */
  readonly isInstalled: boolean;
}

/** The configuration that Gardener generates. */
export const defaultConfiguration = (): InstalledConfiguration => {
  const { settings } = proberConfig.load(proberConfig.defaultText, { unknownFields: 'warning' });
  if (settings === undefined) throw new Error("Gardener's configuration is not valid");
  return { settings, isInstalled: false };
};

/**
 * Reads the configurations of the prober in a namespace and merges them into one: there are several while one version takes over from another, and the
 * latest counts. Throws an ApiError or a CommandError.
 */
export const installedConfiguration = async (
  namespace: string,
  { client, options }: Pick<CommandContext, 'client' | 'options'>,
): Promise<InstalledConfiguration> => {
  const path = resourcePath({ apiVersion: 'v1', resource: 'configmaps', namespace });
  const call = listCall({ path, query: { labelSelector }, decode: decodeStoredConfiguration });
  const { value } = await client.call(call, options);
  const [latest, ...former] = value.toSorted((a, b) => b.createdAt - a.createdAt).flatMap(settingsIn);
  if (latest === undefined) return defaultConfiguration();
  const dependents = [latest, ...former].flatMap(({ dependentResources }) => dependentResources);
  const byRef = new Map(dependents.toReversed().map((dependent) => [refKey(dependent.ref), dependent]));
  return { settings: { ...latest, dependentResources: [...byRef.values()] }, isInstalled: true };
};
