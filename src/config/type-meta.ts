import { about, exactly, show } from './fields.ts';
import { type ConfigFinding, fieldsOf } from './rules/index.ts';

const group = 'dependency-watchdog.gardener.cloud';

/** The `apiVersion` of configuration files of all components. */
const configApiVersion = `${group}/v1alpha1`;

/** Components that run as a process with their own configuration. */
export const componentNames = ['prober', 'weeder', 'care'] as const;

export type ComponentName = (typeof componentNames)[number];

const kindOf = (component: ComponentName): string =>
  `${component.charAt(0).toUpperCase()}${component.slice(1)}Configuration`;

/** Returns the component whose configuration this is according to its `kind`; undefined without one of our kinds. */
export const componentOfKind = (value: unknown): ComponentName | undefined => {
  const { kind } = fieldsOf(value);
  return componentNames.find((name) => kindOf(name) === kind);
};

/** The fields that identify the component of a configuration file. Both are optional, because the Go program's files have neither. */
export const typeMeta = (component: ComponentName) => ({
  apiVersion: about('Version of the format; may be left out.', exactly(configApiVersion)).optional(),
  kind: about('Kind of the configuration; may be left out.', exactly(kindOf(component))).optional(),
});

/**
 * Checks the `apiVersion` and `kind` of a file. A running component rejects another version of our format and another component's file.
 * For foreign values it only warns, because the Go program ignores both fields.
 */
export const typeFindings = (component: ComponentName, value: unknown): readonly ConfigFinding[] => {
  const { apiVersion, kind } = fieldsOf(value);
  const findings: ConfigFinding[] = [];
  const report = (field: string, message: string, isOurs: boolean): void => {
    findings.push({ path: [field], message, severity: 'error', whenRunning: isOurs ? 'error' : 'warning' });
  };
  if (typeof apiVersion === 'string' && apiVersion !== configApiVersion) {
    report('apiVersion', `must be ${configApiVersion}, found ${show(apiVersion)}`, apiVersion.startsWith(`${group}/`));
  }
  if (typeof kind === 'string' && kind !== kindOf(component)) {
    const owner = componentNames.find((name) => kindOf(name) === kind);
    const whose = owner === undefined ? '' : `: this is a configuration of dwd ${owner}, and not of dwd ${component}`;
    report('kind', `must be ${kindOf(component)}, found ${show(kind)}${whose}`, owner !== undefined);
  }
  return findings;
};
