{{- define "cordon.name" -}}
{{- if contains "cordon" .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-cordon" (.Release.Name | trunc 56 | trimSuffix "-") }}
{{- end -}}
{{- end }}

{{- define "cordon.selector" -}}
app.kubernetes.io/name: cordon
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cordon.labels" -}}
{{ include "cordon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "cordon.isSidecar" -}}
{{- if eq .Values.shape "sidecar" }}yes{{ end -}}
{{- end }}

{{- define "cordon.hasStoreSecret" -}}
{{- if and (eq .Values.shape "gateway") .Values.store.secretName }}yes{{ end -}}
{{- end }}
