{{- define "gateway.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gateway.secret" -}}
{{- .Values.existingSecret | default (ternary (include "gateway.name" .) "" (gt (len .Values.secrets) 0)) }}
{{- end }}

{{- define "gateway.port" -}}
{{- dig "http" "port" 8080 .Values.config }}
{{- end }}

{{- define "gateway.scheme" -}}
{{- if dig "http" "tls" "certificateFile" "" .Values.config }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}
