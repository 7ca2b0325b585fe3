import type { ManifestPart } from '../../src/cli/manifests/render.ts';
import type { ComponentName } from '../../src/config/type-meta.ts';

/** Template of objects that are values of the chart. Only names in them are templates. */
const ofValues = (part: ManifestPart): string => `{{- if .Values.${part}.enabled }}
{{- range .Values.${part}.objects }}
---
{{ tpl (toYaml .) $ }}
{{- end }}
{{- end }}
`;

/** Template of the policies, with one of the two forms of the prober's policy. */
const policyTemplate = `{{- if .Values.policy.enabled }}
{{- range .Values.policy.objects }}
{{- $isProbers := contains "}}prober." .metadata.name }}
{{- if or (not $isProbers) (eq (hasPrefix "Mutating" .kind) $.Values.policy.beforeWebhooks) }}
{{- $object := deepCopy . }}
{{- if and $isProbers (eq .kind "ValidatingAdmissionPolicyBinding") }}
{{- $usual := ternary (list "Audit") (list "Deny") (eq $.Values.profile "gardener-seed") }}
{{- $_ := set $object.spec "validationActions" ($.Values.policy.proberActions | default $usual) }}
{{- end }}
---
{{ tpl (toYaml $object) $ }}
{{- end }}
{{- end }}
{{- end }}
`;

/** Template of objects that are derived from the configurations. They are values of the chart, because templates cannot read configurations. */
export const derivedTemplateOf = (part: ManifestPart): string => (part === 'policy' ? policyTemplate : ofValues(part));

const sha = (component: ComponentName): string => `(sha256sum .Values.${component}.config | trunc 8)`;

/** Check that fails if the objects were derived from other configurations. */
export const derivedCheckOf = (part: ManifestPart): string => `{{- if .Values.${part}.enabled }}
{{- if ne .Values.${part}.objectsFor (printf "%s-%s" ${sha('prober')} ${sha('weeder')}) }}
{{- fail "${part}.objects are of other configurations than prober.config and weeder.config: print them with dwd manifests --output values" }}
{{- end }}
{{- end }}
`;
