import { readFileSync } from 'node:fs';

/** Values for alerts. Only the chart has them: with `dwd manifests` and `dwd install`, alerts are applied by `kubectl apply`. */
export const alertValues = { prometheusRule: { enabled: false, labels: {} } } as const;

export const aboutAlerts = {
  'prometheusRule.enabled': {
    description: 'Create a PrometheusRule of the Prometheus operator with the alerts of deploy/monitoring',
    schema: { type: 'boolean' },
  },
  'prometheusRule.labels': {
    description: 'Labels of the PrometheusRule, for the selector of a Prometheus',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const;

/** Template of the alerts that `kubectl apply` would apply, with the namespace of the release and the configured labels. */
export const alertsTemplate = (): string => {
  const rule = readFileSync(new URL('../../deploy/monitoring/prometheusrule.yaml', import.meta.url), 'utf8');
  const [head = '', spec = ''] = rule.replace(/^(?:#.*\n)+/, '').split(/^(?=spec:)/m);
  const name = 'name: dependency-watchdog\n';
  const named = head.replace(
    `  ${name}`,
    `  name: {{ .Values.namePrefix }}alerts\n  namespace: {{ .Release.Namespace | toString | toJson }}\n`,
  );
  const labels =
    '{{- range $key, $value := .Values.prometheusRule.labels }}\n    {{ $key | toJson }}: {{ $value | toString | toJson }}\n{{- end }}\n';
  // Prometheus' own templates must not be read as Helm's.
  return `{{- if .Values.prometheusRule.enabled }}\n---\n${named}${labels}${spec.replaceAll('{{', '{{ "{{" }}')}{{- end }}\n`;
};
