import type { ComponentName } from '../../config/index.ts';
import { UsageError } from '../errors.ts';
import { bool, choice, integer } from '../flag-types.ts';
import { type Flag, type FlagValues, parseFlags } from '../parse-flags.ts';
import {
  type ValueType,
  cpu,
  labels,
  objectName,
  seconds,
  secretNames,
  tcpPorts,
  tolerations,
  validationActions,
  withSchema,
} from './value-types.ts';

/** A setting of an installation without its own flag: a key of `--set`, and the same key in the chart's values. */
export interface Value<T> extends Flag<T> {
  readonly type: ValueType<T>;
  readonly default: string;
}

const value = <T>(type: ValueType<T>, defaultText: string, description: string): Value<T> => ({
  type,
  default: defaultText,
  description,
});

const boolean = withSchema({ ...bool, takes: 'true or false' }, { type: 'boolean' });
const levels = ['debug', 'info', 'error', 'panic'] as const;
const logLevel = withSchema(choice('level', levels), { type: 'string', enum: levels });
const atLeast = (min: number) => withSchema(integer({ min }), { type: 'integer', minimum: min });

/** Values of the whole installation, and values that only one component has. */
export const commonValues = {
  imagePullSecrets: value(secretNames, '', 'Secrets for pulling the image'),
  nodeSelector: value(labels, '', 'Node selector of the pods'),
  tolerations: value(tolerations, '[]', 'Tolerations of the pods'),
  priorityClassName: value(
    objectName('PriorityClass'),
    '',
    'PriorityClass of the pods; with the profile gardener-seed always gardener-system-800',
  ),
  'networkPolicy.enabled': value(boolean, 'true', 'Create NetworkPolicies (profile plain only)'),
  'networkPolicy.apiServerPorts': value(
    tcpPorts,
    '443,6443',
    'Ports of API servers that the NetworkPolicies allow for egress, as numbered on the pods or machines of the API servers',
  ),
  'serviceMonitor.enabled': value(
    boolean,
    'false',
    'Create ServiceMonitors of the Prometheus operator (profile plain only)',
  ),
  'serviceMonitor.interval': value(seconds, '30s', 'Scrape interval of the ServiceMonitors'),
  'serviceMonitor.labels': value(labels, '', 'Labels of the ServiceMonitors, for the selector of a Prometheus'),
  'policy.beforeWebhooks': value(
    boolean,
    'false',
    "Check the prober's requests against its policy before webhooks change them, and reject violations; requires Kubernetes 1.36",
  ),
  'policy.proberActions': value(
    validationActions,
    '',
    "Validation actions of the prober's policy for requests after the webhooks; if not set Deny, with the profile gardener-seed Audit; no effect with policy.beforeWebhooks=true",
  ),
  'care.gardenKubeconfigSecret': value(
    objectName('Secret'),
    '',
    'Secret with the kubeconfig for the garden under the key kubeconfig; without it care writes nothing',
  ),
} as const;

interface Measured {
  readonly qps: number;
  readonly burst: number;
  readonly cpu: string;
  readonly requestMiB: number;
}

const valuesOf = (measured: Measured) => ({
  logLevel: value(logLevel, 'info', 'Minimum level of log lines'),
  kubeApiQps: value(atLeast(1), String(measured.qps), 'Maximum sustained requests per second to the API server'),
  kubeApiBurst: value(atLeast(1), String(measured.burst), 'Maximum burst of requests to the API server'),
  cpuRequest: value(cpu, measured.cpu, 'CPU request of each pod'),
  memoryRequestMiB: value(atLeast(1), String(measured.requestMiB), 'Memory request of each pod, in MiB'),
  memoryLimitMiB: value(
    atLeast(256),
    '512',
    "Memory limit of each pod, in MiB; five eighths of it are the limit of V8's heap, the rest is for memory outside the heap",
  ),
});

/**
 * Requests are the usage for a seed with 250 shoots of 50 nodes (docs/benchmarks.md): the prober at most 190 MB, in a mass outage, and a tenth of a
 * processor; the weeder 156 MB; care 251 MB and 3 % of a processor. The limit leaves room for 1000 shoots, where the prober uses 329 MB, and for
 * responses of hostile shoots. Rate limits of the prober are those that gardenlet sets, those of the weeder are the defaults.
 */
const componentValues = {
  prober: valuesOf({ qps: 20, burst: 100, cpu: '100m', requestMiB: 192 }),
  weeder: valuesOf({ qps: 5, burst: 10, cpu: '50m', requestMiB: 160 }),
  care: valuesOf({ qps: 20, burst: 40, cpu: '100m', requestMiB: 256 }),
} as const satisfies Readonly<Record<ComponentName, unknown>>;

type ComponentValues = FlagValues<ReturnType<typeof valuesOf>>;

export type InstallationValues = FlagValues<typeof commonValues> & Readonly<Record<ComponentName, ComponentValues>>;

/** All values by their key of `--set`. */
export const valuesByKey: Readonly<Record<string, Value<unknown>>> = {
  ...commonValues,
  ...Object.fromEntries(
    Object.entries(componentValues).flatMap(([component, values]) =>
      Object.entries(values).map(([key, one]) => [`${component}.${key}`, one]),
    ),
  ),
};

const assignmentsIn = (texts: readonly string[]): ReadonlyMap<string, string> => {
  const assigned = new Map<string, string>();
  for (const text of texts) {
    const [key = '', ...rest] = text.split('=');
    if (rest.length === 0) throw new UsageError(`flag --set takes KEY=VALUE; it was given ${JSON.stringify(text)}`);
    if (!Object.hasOwn(valuesByKey, key)) {
      throw new UsageError(
        `flag --set has no key ${JSON.stringify(key)}; the keys are: ${Object.keys(valuesByKey).join(', ')}`,
      );
    }
    assigned.set(key, rest.join('='));
  }
  return assigned;
};

/** Parses texts of the form `KEY=VALUE`. The last text of a key counts. Throws a UsageError that names the first wrong one. */
export const valuesFrom = (texts: readonly string[]): InstallationValues => {
  const assigned = assignmentsIn(texts);
  for (const [key, text] of assigned) {
    const type = valuesByKey[key]?.type;
    if (type?.parse(text) === undefined) {
      throw new UsageError(`flag --set ${key}= takes ${type?.takes ?? ''}; it was given ${JSON.stringify(text)}`);
    }
  }
  const of = <F extends Readonly<Record<string, Value<unknown>>>>(values: F, prefix = ''): FlagValues<F> =>
    parseFlags(values, Object.fromEntries(Object.keys(values).map((key) => [key, assigned.get(prefix + key)])));
  const components: Readonly<Record<ComponentName, ComponentValues>> = {
    prober: of(componentValues.prober, 'prober.'),
    weeder: of(componentValues.weeder, 'weeder.'),
    care: of(componentValues.care, 'care.'),
  };
  for (const [component, { memoryRequestMiB, memoryLimitMiB }] of Object.entries(components)) {
    if (memoryRequestMiB > memoryLimitMiB) {
      throw new UsageError(`flag --set ${component}.memoryRequestMiB= must be at most ${component}.memoryLimitMiB`);
    }
  }
  return { ...of(commonValues), ...components };
};
