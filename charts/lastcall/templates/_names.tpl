{{/* What the names of objects begin with. Labels always have lastcall: people and the command line find the replicas by them. */}}
{{- define "lastcall.fullname" -}}
{{- $usual := .Values.nameOverride | default "lastcall" -}}
{{- .Values.fullnameOverride | default (ternary $usual (printf "%s-%s" $usual .Values.revision) (empty .Values.revision)) -}}
{{- end -}}

{{/*
Names of objects outside of namespaces that decide about Pods. Of a list: the values as they are, and a word. They follow from the revision
alone: two releases of the same revision would both change the same Pods, and Helm refuses the second one for these names.
*/}}
{{- define "lastcall.domain" -}}
{{- $revision := (index . 0).Values.revision -}}
{{ index . 1 }}{{ with $revision }}-{{ . }}{{ end }}.lastcall.dev
{{- end -}}

{{/* This one sorts before those of service meshes, so that their webhooks see our changes. */}}
{{- define "lastcall.configuration" -}}{{ include "lastcall.domain" (list . "drain") }}{{- end -}}
{{/* Asked after the one above, and before those of service meshes too. */}}
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
{{/* Written by cert-manager, which leaves its Secrets behind: with a name of the chart's own it would block mode self. */}}
{{- define "lastcall.issuingSecret" -}}{{ include "lastcall.fullname" . }}-issuing-ca{{- end -}}
{{- define "lastcall.config" -}}{{ include "lastcall.fullname" . }}-config{{- end -}}

{{- define "lastcall.tlsSecret" -}}
{{- if eq .Values.certificates.mode "existing" -}}{{ .Values.certificates.existing.secretName }}{{- else -}}{{ include "lastcall.webhook" . }}-tls{{- end -}}
{{- end -}}

{{/*
Labels and annotations of one object. Of a dict: `of`, the values as they are; the component, if it is of one; and what stands on this
object alone. Where they meet, the chart's labels win, because selectors and people know objects by them; then the object's own.
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

{{/* Of a list: the values as they are, and one image of them. */}}
{{- define "lastcall.image" -}}
{{- $values := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := $values.Values.image.registry | trimSuffix "/" -}}
{{- with $registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $values.Chart.AppVersion }}{{ end }}
{{- end -}}

{{/* Text such as 500ms or 2m in whole seconds, rounded up. */}}
{{- define "lastcall.wholeSeconds" -}}
{{- $amount := regexFind "^[0-9]+" . | atoi -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" }}{{ div (add $amount 999) 1000 }}
{{- else if eq $unit "s" }}{{ $amount }}
{{- else if eq $unit "m" }}{{ mul $amount 60 }}
{{- else }}{{ mul $amount 3600 }}{{ end }}
{{- end -}}

{{/* Not empty when the replicas themselves keep the caBundle right. */}}
{{- define "lastcall.keepsBundle" -}}
{{- $certificates := .Values.certificates -}}
{{- if eq $certificates.mode "self" }}yes
{{- else if and (eq $certificates.mode "existing") (not $certificates.existing.caBundle) }}yes{{ end }}
{{- end -}}

{{/* A limit that is not given follows from what runs. */}}
{{- define "lastcall.resources" -}}
{{- $resources := deepCopy (default dict .Values.webhook.resources) -}}
{{- if eq "" (dig "limits" "memory" "none" $resources) -}}
{{- $_ := set $resources.limits "memory" (ternary "1280Mi" "512Mi" .Values.relay.enabled) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/* Secrets whose content the replicas write, as a list. */}}
{{- define "lastcall.keptSecrets" -}}
{{- $kept := list -}}
{{- if eq .Values.certificates.mode "self" }}{{ $kept = append $kept (include "lastcall.caSecret" .) }}{{ end -}}
{{- if .Values.relay.enabled }}{{ $kept = append $kept (include "lastcall.relaySecret" .) }}{{ end -}}
{{- toJson $kept -}}
{{- end -}}

{{/*
Where Pods find the relay. A rendering cannot know the Service's address; the kubelet knows it as a variable of every Pod
that is started after the Service, and puts it into the argument. The port is the Service's own named relay.
*/}}
{{- define "lastcall.relayAddress" -}}
{{- $service := include "lastcall.webhook" . | upper | replace "-" "_" -}}
[$({{ $service }}_SERVICE_HOST)]:$({{ $service }}_SERVICE_PORT_RELAY)
{{- end -}}

{{/* Empty where nothing listens on it. */}}
{{- define "lastcall.adminPort" -}}
{{- if and .Values.relay.enabled .Values.relay.adminPort }}{{ int .Values.relay.adminPort }}{{ end -}}
{{- end -}}

{{/* Names, or objects with one, as other charts take them. */}}
{{- define "lastcall.pullSecrets" -}}
{{- range .Values.image.pullSecrets }}
- name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
{{- end -}}
{{- end -}}

{{/* What every container of ours runs with. */}}
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

{{/* Annotations of both configurations. AKS would rewrite their selectors again and again. */}}
{{- define "lastcall.configurationAnnotations" -}}
{{- merge (dict "admissions.enforcer/disabled" "true") .Values.webhook.configurationAnnotations | toYaml -}}
{{- end -}}

{{- define "lastcall.selfTestHook" -}}
helm.sh/hook: test
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
{{- end }}
