{{/* Names. The configuration's name sorts before those of service meshes, so that their webhooks see our changes. */}}
{{- define "lastcall.configuration" -}}drain.lastcall.dev{{- end -}}
{{- define "lastcall.policy" -}}uninjected.lastcall.dev{{- end -}}
{{- define "lastcall.configurationGuard" -}}configuration.lastcall.dev{{- end -}}
{{- define "lastcall.namespaceGuard" -}}namespace.lastcall.dev{{- end -}}
{{- define "lastcall.webhook" -}}lastcall-webhook{{- end -}}
{{- define "lastcall.selfTest" -}}lastcall-self-test{{- end -}}
{{- define "lastcall.caSecret" -}}lastcall-ca{{- end -}}
{{- define "lastcall.relaySecret" -}}lastcall-relay{{- end -}}
{{/* Written by cert-manager, which leaves its Secrets behind: with a name of the chart's own it would block mode self. */}}
{{- define "lastcall.issuingSecret" -}}lastcall-issuing-ca{{- end -}}
{{- define "lastcall.config" -}}lastcall-config{{- end -}}

{{- define "lastcall.tlsSecret" -}}
{{- if eq .Values.certificates.mode "existing" -}}{{ .Values.certificates.existing.secretName }}{{- else -}}lastcall-webhook-tls{{- end -}}
{{- end -}}

{{/* Where these and common labels meet, these win: selectors and people know objects by them. */}}
{{- define "lastcall.labels" -}}
{{- $ours := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")
  "app.kubernetes.io/name" "lastcall"
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
-}}
{{- merge $ours .Values.commonLabels | toYaml -}}
{{- end -}}

{{/* Of a list: the values as they are, and the component. */}}
{{- define "lastcall.componentLabels" -}}
{{- $component := dict "app.kubernetes.io/component" (index . 1) -}}
{{- merge $component (include "lastcall.labels" (index . 0) | fromYaml) | toYaml -}}
{{- end -}}

{{/* Of the server's Pods. Where these and a person's labels meet, these win: the Service selects by them. */}}
{{- define "lastcall.podLabels" -}}
{{ include "lastcall.componentLabels" (list . "webhook") }}
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

{{- define "lastcall.selfTestHook" -}}
# With Fail the test also runs before anything is changed: Pods come to depend on an injection that was seen to work.
helm.sh/hook: {{ if eq .Values.failurePolicy "Fail" }}pre-install,pre-upgrade,{{ end }}test
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded,hook-failed
{{- end }}
