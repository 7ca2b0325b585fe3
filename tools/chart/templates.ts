import type { KubeObject } from '../../src/install/index.ts';
import { derivedParts } from '../../src/cli/manifests/chart-values.ts';
import type { ParsedConfiguration, Installation } from '../../src/cli/manifests/installation.ts';
import { alertsTemplate } from './alerts.ts';
import { renderManifests } from '../../src/cli/manifests/render.ts';
import type { InstallationValues } from '../../src/cli/manifests/values.ts';
import { manifestYaml } from '../../src/cli/manifests/yaml.ts';
import { type ComponentName, componentNames } from '../../src/config/type-meta.ts';
import { derivedCheckOf, derivedTemplateOf } from './derived.ts';
import { data, entries, fillIn, number, optional, text } from './placeholders.ts';

const ofComponent = (component: ComponentName): InstallationValues[ComponentName] => {
  const at = `.Values.${component}`;
  return {
    logLevel: text(`${at}.logLevel`) as InstallationValues['prober']['logLevel'],
    kubeApiQps: number(`${at}.kubeApiQps`),
    kubeApiBurst: number(`${at}.kubeApiBurst`),
    cpuRequest: text(`${at}.cpuRequest`),
    memoryRequestMiB: number(`${at}.memoryRequestMiB`),
    memoryLimitMiB: number(`${at}.memoryLimitMiB`),
  };
};

/** Throws on access: templates cannot read a configuration, so an object in the chart may depend on it only through `rules`. */
const unreadable = new Proxy(
  {},
  {
    get(_, field) {
      throw new Error(`the chart does not know the configuration, and so not ${String(field)}`);
    },
  },
);

const configured = <Settings>(component: ComponentName): ParsedConfiguration<Settings> => {
  const at = `.Values.${component}`;
  return {
    text: text(`${at}.config`),
    hash: text(`(sha256sum ${at}.config | trunc 8)`),
    settings: unreadable as Settings,
    rules: data(`${at}.rules`),
    heapLimitMiB: number(`(div (mul (int ${at}.memoryLimitMiB) 5) 8)`),
  };
};

const values: InstallationValues = {
  imagePullSecrets: optional('.Values.imagePullSecrets'),
  nodeSelector: optional('.Values.nodeSelector'),
  tolerations: optional('.Values.tolerations'),
  priorityClassName: optional('.Values.priorityClassName'),
  'networkPolicy.enabled': false,
  'networkPolicy.apiServerPorts': data('.Values.networkPolicy.apiServerPorts'),
  'serviceMonitor.enabled': false,
  'serviceMonitor.interval': text('.Values.serviceMonitor.interval'),
  'serviceMonitor.labels': entries('.Values.serviceMonitor.labels'),
  'policy.beforeWebhooks': false,
  'policy.proberActions': [],
  'care.gardenKubeconfigSecret': '',
  prober: ofComponent('prober'),
  weeder: ofComponent('weeder'),
  care: ofComponent('care'),
};

/** An installation with placeholders for all values and with every switch off. */
const installation: Installation = {
  profile: 'plain',
  namespace: text('.Release.Namespace'),
  namePrefix: text('.Values.namePrefix'),
  image: text('.Values.image'),
  replicas: number('.Values.replicas'),
  values,
  prober: configured('prober'),
  weeder: configured('weeder'),
  care: configured('care'),
};

/** A choice that determines which objects exist and which fields they have. */
interface Switch {
  /** Condition in the language of Go's templates; true if the switch is on. */
  readonly condition: string;
  readonly turnOn: (installation: Installation) => Installation;
}

const withValues =
  (changed: Partial<InstallationValues>) =>
  (one: Installation): Installation => ({
    ...one,
    values: { ...one.values, ...changed },
  });

const switches: readonly Switch[] = [
  { condition: 'eq .Values.profile "gardener-seed"', turnOn: (one) => ({ ...one, profile: 'gardener-seed' }) },
  { condition: '.Values.networkPolicy.enabled', turnOn: withValues({ 'networkPolicy.enabled': true }) },
  { condition: '.Values.serviceMonitor.enabled', turnOn: withValues({ 'serviceMonitor.enabled': true }) },
  {
    condition: '.Values.care.gardenKubeconfigSecret',
    turnOn: withValues({ 'care.gardenKubeconfigSecret': text('.Values.care.gardenKubeconfigSecret') }),
  },
];

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/**
 * Makes Helm keep a ConfigMap
 * (https://helm.sh/docs/howto/charts_tips_and_tricks/#tell-helm-not-to-uninstall-a-resource); `dwd uninstall` deletes it. An upgrade creates a new
 * ConfigMap and would delete the former one while pods that mount it still run and may restart.
 */
const kept = (object: KubeObject): KubeObject => {
  if (object.kind !== 'ConfigMap') return object;
  const annotations = { ...object.metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** Text of one object under a combination of the switches; undefined if the object does not exist under it. */
type Texts = (combination: readonly boolean[]) => string | undefined;

/** Builds the template of one object, with conditions only where a switch makes a difference. */
const conditional = (texts: Texts, combination: readonly boolean[] = []): string => {
  const next = switches[combination.length];
  if (next === undefined) {
    const found = texts(combination);
    return found === undefined ? '' : `---\n${found}`;
  }
  const [on, off] = [true, false].map((state) => conditional(texts, [...combination, state]));
  if (on === off) return on ?? '';
  if (off === '') return `{{- if ${next.condition} }}\n${on ?? ''}{{- end }}\n`;
  if (on === '') return `{{- if not (${next.condition}) }}\n${off ?? ''}{{- end }}\n`;
  return `{{- if ${next.condition} }}\n${on ?? ''}{{- else }}\n${off ?? ''}{{- end }}\n`;
};

const allCombinations = switches.reduce<readonly (readonly boolean[])[]>(
  (combinations) =>
    combinations.flatMap((some) => [
      [...some, false],
      [...some, true],
    ]),
  [[]],
);

/** Builds one template for the objects of a component under all combinations of switches. */
const templateOf = (component: ComponentName): string => {
  const rendered = new Map(
    allCombinations.map((combination) => {
      const turned = switches.filter((_, index) => combination[index]);
      const one = turned.reduce((before, { turnOn }) => turnOn(before), installation);
      return [String(combination), renderManifests(one, [component])] as const;
    }),
  );
  // Objects keep the order in which they must be applied, because the longest list, which comes first, has all objects that others depend on.
  const keys = [
    ...new Set(
      [...rendered.values()]
        .toSorted((a, b) => b.length - a.length)
        .flat()
        .map(keyOf),
    ),
  ];
  const objects = keys.map((key) =>
    conditional((combination) => {
      const found = rendered.get(String(combination))?.find((object) => keyOf(object) === key);
      return found === undefined ? undefined : fillIn(manifestYaml(kept(found)));
    }),
  );
  return objects.join('');
};

const checkOf = (component: ComponentName): string => {
  const at = `.Values.${component}`;
  return `{{- if ${at}.enabled }}
{{- if ne ${at}.rulesFor (sha256sum ${at}.config | trunc 8) }}
{{- fail "${component}.rules are of another configuration than ${component}.config: print both with dwd manifests --output values --component ${component} --config-file FILE" }}
{{- end }}
{{- if gt (int ${at}.memoryRequestMiB) (int ${at}.memoryLimitMiB) }}
{{- fail "${component}.memoryRequestMiB must be at most ${component}.memoryLimitMiB" }}
{{- end }}
{{- end }}
`;
};

/** Checks that a schema cannot express. */
const checks = `{{- if and (eq .Values.profile "gardener-seed") (ne .Release.Namespace "garden") }}
{{- fail "profile gardener-seed needs the namespace garden: shoots accept connections from no other namespace" }}
{{- end }}
${componentNames.map(checkOf).join('')}${derivedParts.map(derivedCheckOf).join('')}`;

/** Text that Helm prints after an installation or upgrade. */
const notes = `A pod of each component leads when its Lease has a holder:
{{ range $component := list "prober" "weeder" "care" }}{{ if (index $.Values $component).enabled }}
  kubectl get lease dwd-{{ $component }}-leader-election -n {{ $.Release.Namespace }} -o jsonpath='{.spec.holderIdentity}{"\\n"}'
{{- end }}{{ end }}

helm uninstall alone takes away the prober and leaves at 0 replicas what it holds in an outage. This restores it, removes everything, and
then removes Helm's record:

  dwd uninstall -n {{ .Release.Namespace }}
  helm uninstall {{ .Release.Name }} -n {{ .Release.Namespace }}
`;

const notice = '{{- /* Written by tools/chart from what dwd manifests prints: make chart. */ -}}\n';

/** Templates by file name. */
export const templates: Readonly<Record<string, string>> = {
  'checks.yaml': notice + checks,
  'NOTES.txt': notes,
  'alerts.yaml': notice.replace('what dwd manifests prints', 'deploy/monitoring') + alertsTemplate(),
  ...Object.fromEntries(
    componentNames.map((component) => [
      `${component}.yaml`,
      `${notice}{{- if .Values.${component}.enabled }}\n${templateOf(component)}{{- end }}\n`,
    ]),
  ),
  ...Object.fromEntries(derivedParts.map((part) => [`${part}.yaml`, notice + derivedTemplateOf(part)])),
};
