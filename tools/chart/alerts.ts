import { readFileSync } from 'node:fs';

/** In the chart alone: `dwd manifests` and `dwd install` leave alerts to `kubectl apply`. */
export const alertValues = { prometheusRule: { enabled: false, labels: {} } } as const;

export const aboutAlerts = {
  'prometheusRule.enabled': {
    description: 'Whether there are alerts (deploy/monitoring), as a PrometheusRule of the Prometheus operator',
    schema: { type: 'boolean' },
  },
  'prometheusRule.labels': {
    description: 'Labels by which a Prometheus selects its PrometheusRules',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const;

/** The file that `kubectl apply` takes, in the namespace and with the labels that are wanted. */
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
  // Prometheus has templates of its own.
  return `{{- if .Values.prometheusRule.enabled }}\n---\n${named}${labels}${spec.replaceAll('{{', '{{ "{{" }}')}{{- end }}\n`;
};
