import { type ChartValues, chartValuesOf, derivedParts } from '../../src/cli/manifests/chart-values.ts';
import { manifestFlags } from '../../src/cli/manifests/flags.ts';
import { type Installation, profiles } from '../../src/cli/manifests/installation.ts';
import { namePrefix } from '../../src/cli/manifests/value-types.ts';
import { valuesByKey } from '../../src/cli/manifests/values.ts';
import { manifestYaml } from '../../src/cli/manifests/yaml.ts';
import { componentNames } from '../../src/config/type-meta.ts';
import { aboutAlerts, alertValues } from './alerts.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Description and schema of a value of the chart. */
interface About {
  readonly description: string;
  readonly schema: Schema;
}

const flagValues: Readonly<Record<string, About>> = {
  profile: { description: manifestFlags.profile.description, schema: { enum: profiles } },
  namePrefix: { description: manifestFlags['name-prefix'].description, schema: namePrefix.schema },
  image: { description: manifestFlags.image.description, schema: { type: 'string', pattern: '^[A-Za-z0-9_.:/@-]+$' } },
  replicas: { description: manifestFlags.replicas.description, schema: { type: 'integer', minimum: 1 } },
};

const stringList = { type: 'array', items: { type: 'string' } };

const rule = {
  type: 'object',
  required: ['apiGroups', 'resources', 'verbs'],
  additionalProperties: false,
  properties: { apiGroups: stringList, resources: stringList, resourceNames: stringList, verbs: stringList },
};

const ofComponent: Readonly<Record<string, About>> = {
  enabled: { description: 'Install this component', schema: { type: 'boolean' } },
  config: {
    description:
      'Configuration of the component. Another configuration needs other rights: print both with dwd manifests --output values',
    schema: { type: 'string', minLength: 1 },
  },
  rules: {
    description: 'Rights in the seed that the configuration needs, in all namespaces',
    schema: { type: 'array', items: rule },
  },
  rulesFor: {
    description: 'First 8 digits of the SHA-256 of the configuration that needs these rights',
    schema: { type: 'string', pattern: '^[0-9a-f]{8}$' },
  },
};

const ofDerived: Readonly<Record<string, About>> = {
  enabled: { description: 'Install these objects', schema: { type: 'boolean' } },
  objects: {
    description: 'Objects that are derived from the configurations: print both with dwd manifests --output values',
    schema: { type: 'array', items: { type: 'object' } },
  },
  objectsFor: {
    description: 'First 8 digits of the SHA-256 of the configurations of prober and weeder',
    schema: { type: 'string', pattern: '^[0-9a-f]{8}-[0-9a-f]{8}$' },
  },
};

const derivedNames: ReadonlySet<string> = new Set(derivedParts);

const runsByItself: ReadonlySet<string> = new Set(componentNames);

/** Returns the description of the value at a path; undefined if the value only contains others. */
const aboutOf = (path: string): About | undefined => {
  const [component = '', key = ''] = path.split('.');
  const alerts: Readonly<Record<string, About>> = aboutAlerts;
  if (alerts[path] !== undefined) return alerts[path];
  const value = valuesByKey[path];
  if (value !== undefined) return { description: value.description, schema: value.type.schema };
  if (derivedNames.has(component)) return ofDerived[key];
  return runsByItself.has(component) ? ofComponent[key] : flagValues[path];
};

const entriesOf = (values: ChartValues, path: string) =>
  Object.entries(values).map(([key, value]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return { key, value, at, about: aboutOf(at) };
  });

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => (line === '' ? '' : `  ${line}`));

const linesOf = (values: ChartValues, path = ''): readonly string[] =>
  entriesOf(values, path).flatMap(({ key, value, at, about }) => {
    const space = path === '' ? [''] : [];
    if (about === undefined) return [...space, `${key}:`, ...indented(linesOf(value as ChartValues, at))];
    const yaml = manifestYaml({ [key]: value }).trimEnd();
    return [...space, `# ${about.description}.`, ...yaml.split('\n')];
  });

const schemaOf = (values: ChartValues, path = ''): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries([
    ...entriesOf(values, path).map(({ key, value, at, about }) => {
      const schema = about === undefined ? schemaOf(value as ChartValues, at) : about.schema;
      return [key, about === undefined ? schema : { description: about.description, ...schema }] as const;
    }),
    // Helm passes `global` to every subchart of a parent chart.
    ...(path === '' ? [['global', { type: 'object' }] as const] : []),
  ]),
});

const header = `# Values of the Helm chart of dependency-watchdog, with their defaults. Written by tools/chart: make chart.
# "dwd manifests --output values" prints them for other configurations.
`;

export interface ValuesFiles {
  readonly values: string;
  readonly schema: string;
}

/** Builds values.yaml and values.schema.json. By default, prober and weeder are enabled. */
export const valuesFiles = (defaults: Installation): ValuesFiles => {
  const values = { ...chartValuesOf(defaults, ['prober', 'weeder']), ...alertValues };
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(values) };
  return {
    values: `${header}${linesOf(values).join('\n')}\n`,
    schema: `${JSON.stringify(schema, null, 2)}\n`,
  };
};
