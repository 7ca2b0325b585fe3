{{/* Begins the names of all objects. */}}
{{- define "dwd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Name of cluster-scoped objects of a component: two installations in one cluster must not share them. */}}
{{- define "dwd.clusterName" -}}
dependency-watchdog.gardener.cloud:{{ .root.Release.Namespace }}:{{ include "dwd.fullname" .root }}-{{ .component }}
{{- end }}

{{/* Labels of the objects of a component. `dwd release` finds configurations by the first three. */}}
{{- define "dwd.labels" -}}
app.kubernetes.io/name: dependency-watchdog
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Selects the pods of a component. */}}
{{- define "dwd.selector" -}}
app: {{ include "dwd.fullname" .root }}-{{ .component }}
{{- end }}

{{/* Name of a component's objects in the namespace of the release, and their other metadata. */}}
{{- define "dwd.metadata" -}}
name: {{ include "dwd.fullname" .root }}-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "dwd.selector" . | nindent 2 }}
  {{- include "dwd.labels" . | nindent 2 }}
{{- end }}

{{- define "dwd.clusterMetadata" -}}
name: {{ include "dwd.clusterName" . }}
labels:
  {{- include "dwd.selector" . | nindent 2 }}
  {{- include "dwd.labels" . | nindent 2 }}
{{- end }}

{{/* Binds the role of this name to the ServiceAccount of the component. */}}
{{- define "dwd.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "dwd.fullname" .root }}-{{ .component }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* "true" if a component's metrics have a Service here: it is enabled, or gardenlet deploys it. */}}
{{- define "dwd.isMeasured" -}}
{{- if or (index .root.Values .component).enabled (and .root.Values.metrics.service.enabled (ne .component "care")) }}true{{ end }}
{{- end }}

{{/* Configuration of a component as it reads it. `resource` in a reference is for the chart alone. */}}
{{- define "dwd.config" -}}
{{- $config := deepCopy (index .root.Values .component).config }}
{{- range $config.dependentResourceInfos }}
{{- $_ := unset .ref "resource" }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- define "dwd.configMapName" -}}
{{ include "dwd.fullname" .root }}-{{ .component }}-config-{{ include "dwd.config" . | sha256sum | trunc 8 }}
{{- end }}

{{/*
Former configurations of a component that pods still use, by the name of their ConfigMap: a pod that is replaced during a roll-out must find it, and the
prober and an operator need the rights to restore what is held under it. Empty without a cluster (helm template, Argo CD).
*/}}
{{- define "dwd.formerConfigs" -}}
{{- $current := include "dwd.configMapName" . }}
{{- $app := include "dwd.selector" . | fromYaml }}
{{- $former := dict }}
{{- range (lookup "v1" "Pod" .root.Release.Namespace "").items }}
{{- if eq (dig "labels" "app" "" .metadata) $app.app }}
{{- range .spec.volumes }}
{{- $name := dig "configMap" "name" "" . }}
{{- if not (has $name (list "" $current)) }}
{{- with lookup "v1" "ConfigMap" $.root.Release.Namespace $name }}
{{- $_ := set $former $name (index .data "config.yaml") }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $former }}
{{- end }}

{{/* The configuration of a component, and the former ones that pods still use: these go on until new pods are ready. */}}
{{- define "dwd.configs" -}}
{{- $configs := list (index .root.Values .component).config }}
{{- range include "dwd.formerConfigs" . | fromYaml }}
{{- $configs = append $configs (fromYaml .) }}
{{- end }}
{{- toYaml $configs }}
{{- end }}

{{/*
Dependent resources of these configurations: what is held under a former one is still to be restored. Of a former one only those of the kinds of apps: it
has no `resource` for others.
*/}}
{{- define "dwd.dependents" -}}
{{- $infos := .Values.prober.config.dependentResourceInfos }}
{{- range include "dwd.configs" (dict "root" . "component" "prober") | fromYamlArray | rest }}
{{- range .dependentResourceInfos }}
{{- if eq .ref.apiVersion "apps/v1" }}
{{- $infos = append $infos . }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $infos }}
{{- end }}

{{/* Rule for the Secrets with kubeconfigs. RBAC cannot select by labels. It reads an empty list of names as every name, so without a name there is no rule. */}}
{{- define "dwd.secretRule" -}}
{{- $selector := dig "clusterSource" "selector" "" .config }}
{{- $names := list .config.kubeConfigSecretName (dig "externalProbe" "kubeConfigSecretName" "" .config) | compact | uniq }}
{{- if or $selector $names -}}
- apiGroups: [""]
  resources: [secrets]
  {{- if not $selector }}
  resourceNames: {{ $names | toJson }}
  {{- end }}
  verbs: {{ .verbs | toJson }}
{{- end }}
{{- end }}

{{/*
Rule for a resource that a configuration of the prober names. RBAC knows no placeholders: such a name needs the right to all names. Kinds other than
the three of apps are scaled through their subresource.
*/}}
{{- define "dwd.refRule" -}}
{{- $group := contains "/" .ref.apiVersion | ternary (splitList "/" .ref.apiVersion | first) "" }}
{{- $isPatched := and (eq $group "apps") (has .ref.kind (list "Deployment" "StatefulSet" "ReplicaSet")) }}
{{- $resource := $isPatched | ternary (printf "%ss" (lower .ref.kind)) .ref.resource }}
{{- if not $resource }}
{{- fail (printf "%s of %s: add `resource`, its plural name, to the reference; the rights need it" .ref.kind .ref.apiVersion) }}
{{- end -}}
- apiGroups: [{{ quote $group }}]
  resources: [{{ $resource }}]
  {{- $names := contains "{{" .ref.name | ternary "" (printf "resourceNames: [%s]" (quote .ref.name)) }}
  {{- $names | nindent 2 }}
  verbs: {{ .verbs | toJson }}
{{- if not $isPatched }}
- apiGroups: [{{ quote $group }}]
  resources: [{{ $resource }}/scale]
  {{- $names | nindent 2 }}
  verbs: [get, patch]
{{- end }}
{{- end }}

{{/* Memory for the heap of Node.js in MiB: five eighths of the limit; the rest is for connections and the program itself. */}}
{{- define "dwd.heapMiB" -}}
{{- $limit := .resources.limits.memory }}
{{- $mebibytes := hasSuffix "Gi" $limit | ternary (mul 1024 (trimSuffix "Gi" $limit | int)) (trimSuffix "Mi" $limit | int) }}
{{- div (mul $mebibytes 5) 8 }}
{{- end }}

{{/* How a pod gets its image, and where it may run. */}}
{{- define "dwd.placement" -}}
{{- range $name, $value := pick .Values "imagePullSecrets" "nodeSelector" "tolerations" }}
{{- with $value }}
{{ dict $name . | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{- define "dwd.podSecurityContext" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "dwd.securityContext" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}
