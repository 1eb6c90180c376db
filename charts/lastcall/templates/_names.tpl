{{/* Prefix of object names. Labels always have lastcall, by which the command line finds the replicas. */}}
{{- define "lastcall.fullname" -}}
{{- $usual := .Values.nameOverride | default "lastcall" -}}
{{- .Values.fullnameOverride | default (ternary $usual (printf "%s-%s" $usual .Values.revision) (empty .Values.revision)) -}}
{{- end -}}

{{/*
Names of cluster-scoped objects. List: root context, first word. They contain only the revision, so that Helm refuses a second release of
the same revision, which would inject the same Pods.
*/}}
{{- define "lastcall.domain" -}}
{{- $revision := (index . 0).Values.revision -}}
{{ index . 1 }}{{ with $revision }}-{{ . }}{{ end }}.lastcall.dev
{{- end -}}

{{/* Sorts before the webhooks of service meshes, so that they see the injected Pod. */}}
{{- define "lastcall.configuration" -}}{{ include "lastcall.domain" (list . "drain") }}{{- end -}}
{{/* Sorts after the one above, and before those of service meshes. */}}
{{- define "lastcall.enforcing" -}}{{ include "lastcall.domain" (list . "enforce") }}{{- end -}}
{{- define "lastcall.policy" -}}{{ include "lastcall.domain" (list . "uninjected") }}{{- end -}}
{{- define "lastcall.configurationGuard" -}}{{ include "lastcall.domain" (list . "configuration") }}{{- end -}}
{{- define "lastcall.namespaceGuard" -}}{{ include "lastcall.domain" (list . "namespace") }}{{- end -}}
{{- define "lastcall.proofGuard" -}}{{ include "lastcall.domain" (list . "proof") }}{{- end -}}
{{- define "lastcall.webhook" -}}{{ include "lastcall.fullname" . }}-webhook{{- end -}}
{{- define "lastcall.selfTest" -}}{{ include "lastcall.fullname" . }}-self-test{{- end -}}
{{- define "lastcall.proof" -}}{{ include "lastcall.fullname" . }}-proof{{- end -}}
{{- define "lastcall.caSecret" -}}{{ include "lastcall.fullname" . }}-ca{{- end -}}
{{- define "lastcall.relaySecret" -}}{{ include "lastcall.fullname" . }}-relay{{- end -}}
{{/* cert-manager does not delete its Secrets, so another name than in mode self. */}}
{{- define "lastcall.issuingSecret" -}}{{ include "lastcall.fullname" . }}-issuing-ca{{- end -}}
{{- define "lastcall.config" -}}{{ include "lastcall.fullname" . }}-config{{- end -}}

{{- define "lastcall.tlsSecret" -}}
{{- if eq .Values.certificates.mode "existing" -}}{{ .Values.certificates.existing.secretName }}{{- else -}}{{ include "lastcall.webhook" . }}-tls{{- end -}}
{{- end -}}

{{/*
Labels and annotations of one object. Dict: `of`, the root context; `component`; `labels` and `annotations` of this object. On
conflicts the chart's labels win, because selectors use them; then the object's.
*/}}
{{- define "lastcall.marks" -}}
{{- $root := .of -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_")
  "app.kubernetes.io/name" "lastcall"
  "app.kubernetes.io/instance" $root.Release.Name
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/managed-by" $root.Release.Service
-}}
{{- with .component }}{{ $_ := set $labels "app.kubernetes.io/component" . }}{{ end -}}
labels: {{- merge $labels (default dict .labels) $root.Values.commonLabels | toYaml | nindent 2 }}
{{- with merge dict (default dict .annotations) $root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "lastcall.webhookSelector" -}}
app.kubernetes.io/name: lastcall
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end -}}

{{/* List: root context, one image of the values. */}}
{{- define "lastcall.image" -}}
{{- $values := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := $values.Values.image.registry | trimSuffix "/" -}}
{{- with $registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $values.Chart.AppVersion }}{{ end }}
{{- end -}}

{{/* Converts a duration such as 500ms or 2m to seconds, rounded up. */}}
{{- define "lastcall.wholeSeconds" -}}
{{- $amount := regexFind "^[0-9]+" . | atoi -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" }}{{ div (add $amount 999) 1000 }}
{{- else if eq $unit "s" }}{{ $amount }}
{{- else if eq $unit "m" }}{{ mul $amount 60 }}
{{- else }}{{ mul $amount 3600 }}{{ end }}
{{- end -}}

{{/* Not empty when the replicas update the caBundle. */}}
{{- define "lastcall.keepsBundle" -}}
{{- $certificates := .Values.certificates -}}
{{- if eq $certificates.mode "self" }}yes
{{- else if and (eq $certificates.mode "existing") (not $certificates.existing.caBundle) }}yes{{ end }}
{{- end -}}

{{/* The default memory limit depends on the relay. */}}
{{- define "lastcall.resources" -}}
{{- $resources := deepCopy (default dict .Values.webhook.resources) -}}
{{- if eq "" (dig "limits" "memory" "none" $resources) -}}
{{- $_ := set $resources.limits "memory" (ternary "1280Mi" "512Mi" .Values.relay.enabled) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/* List of Secrets that the replicas write. */}}
{{- define "lastcall.keptSecrets" -}}
{{- $kept := list -}}
{{- if eq .Values.certificates.mode "self" }}{{ $kept = append $kept (include "lastcall.caSecret" .) }}{{ end -}}
{{- if .Values.relay.enabled }}{{ $kept = append $kept (include "lastcall.relaySecret" .) }}{{ end -}}
{{- toJson $kept -}}
{{- end -}}

{{/*
Address of the relay. The chart cannot render the Service's address, so the argument references the variables that the kubelet sets for
every Pod started after the Service.
*/}}
{{- define "lastcall.relayAddress" -}}
{{- $service := include "lastcall.webhook" . | upper | replace "-" "_" -}}
[$({{ $service }}_SERVICE_HOST)]:$({{ $service }}_SERVICE_PORT_RELAY)
{{- end -}}

{{/* Empty when the port is disabled. */}}
{{- define "lastcall.adminPort" -}}
{{- if and .Values.relay.enabled .Values.relay.adminPort }}{{ int .Values.relay.adminPort }}{{ end -}}
{{- end -}}

{{/* Names, or objects with a name. */}}
{{- define "lastcall.pullSecrets" -}}
{{- range .Values.image.pullSecrets }}
- name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Security context of every container. */}}
{{- define "lastcall.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "lastcall.podSecurity" -}}
runAsNonRoot: true
{{- $user := .Values.webhook.runAsUser }}
{{- if eq (toString $user) "auto" }}
{{- $user = ternary nil 65532 (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
{{- end }}
{{- if not (kindIs "invalid" $user) }}
runAsUser: {{ int64 $user }}
runAsGroup: {{ int64 $user }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Annotations of both configurations. Without the first one AKS rewrites their selectors. */}}
{{- define "lastcall.configurationAnnotations" -}}
{{- merge (dict "admissions.enforcer/disabled" "true") .Values.webhook.configurationAnnotations | toYaml -}}
{{- end -}}

{{- define "lastcall.selfTestHook" -}}
helm.sh/hook: test
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
{{- end }}
