{{/* Refuses values that do not work, alone or together, with one message for all of them. */}}
{{- define "lastcall.rules" -}}
{{- $problems := concat (include "lastcall.availabilityProblems" . | fromJsonArray) (include "lastcall.certificateProblems" . | fromJsonArray) (include "lastcall.policyProblems" . | fromJsonArray) (include "lastcall.relayProblems" . | fromJsonArray) (include "lastcall.otherProblems" . | fromJsonArray) -}}
{{- if $problems -}}
{{- fail (printf "\n\nThese values do not work:\n- %s\n" (join "\n- " $problems)) -}}
{{- end -}}
{{- end -}}

{{- define "lastcall.availabilityProblems" -}}
{{- $problems := list -}}
{{- if eq .Values.failurePolicy "Fail" -}}
{{- if lt (int .Values.webhook.replicas) 2 -}}
{{- $problems = append $problems (printf "webhook.replicas is %d and failurePolicy is Fail: Pods are refused while the only replica moves to another node; use 2 or more replicas, or failurePolicy Ignore." (int .Values.webhook.replicas)) -}}
{{- end -}}
{{- if not .Values.podDisruptionBudget.enabled -}}
{{- $problems = append $problems "podDisruptionBudget.enabled is false and failurePolicy is Fail: two node drains could evict all replicas at once; enable the budget, or use failurePolicy Ignore." -}}
{{- end -}}
{{- if eq "Recreate" (default "" .Values.webhook.strategy.type) -}}
{{- $problems = append $problems "webhook.strategy.type is Recreate and failurePolicy is Fail: Pods are refused during a rollout, while no replica runs; use RollingUpdate, or failurePolicy Ignore." -}}
{{- end -}}
{{- if eq .Values.injection.mode "opt-out" -}}
{{- $problems = append $problems "injection.mode is opt-out and failurePolicy is Fail: Pods that the webhook depends on, such as those of the network plugin, would be refused while the webhook is unavailable; use opt-in, or failurePolicy Ignore." -}}
{{- end -}}
{{- if lt (include "lastcall.wholeSeconds" .Values.webhook.drainDelay | int) 2 -}}
{{- $problems = append $problems (printf "webhook.drainDelay is %s and failurePolicy is Fail: API servers may call a terminating replica for longer than this; use 2s or more, or failurePolicy Ignore." .Values.webhook.drainDelay) -}}
{{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "lastcall.certificateProblems" -}}
{{- $problems := list -}}
{{- $mode := .Values.certificates.mode -}}
{{- $existing := .Values.certificates.existing -}}
{{- if eq $mode "existing" -}}
{{- if not $existing.secretName -}}
{{- $problems = append $problems "certificates.mode is existing and certificates.existing.secretName is empty: set the name of the Secret with tls.crt and tls.key." -}}
{{- end -}}
{{- else -}}
{{- if or $existing.secretName $existing.caBundle -}}
{{- $problems = append $problems (printf "certificates.existing is set and certificates.mode is %s, which does not use it: use mode existing, or leave certificates.existing empty." $mode) -}}
{{- end -}}
{{- end -}}
{{- if contains "PRIVATE KEY" $existing.caBundle -}}
{{- $problems = append $problems "certificates.existing.caBundle contains a private key: set only public certificates. Helm stores values in the cluster, so the key may have to be replaced." -}}
{{- else if and $existing.caBundle (not (hasPrefix "-----BEGIN CERTIFICATE-----" (trim $existing.caBundle))) -}}
{{- $problems = append $problems (printf "certificates.existing.caBundle starts with %s: expected PEM, starting with -----BEGIN CERTIFICATE-----." (trim $existing.caBundle | trunc 20 | quote)) -}}
{{- end -}}
{{- if and .Values.certificates.certManager.issuerRef.name (ne $mode "cert-manager") -}}
{{- $problems = append $problems (printf "certificates.certManager.issuerRef.name is set and certificates.mode is %s, which does not use it: use mode cert-manager, or leave the name empty." $mode) -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "lastcall.policyProblems" -}}
{{- $problems := list -}}
{{- $policy := .Values.policy -}}
{{- $known := concat (include "lastcall.shippedProfiles" . | fromJsonArray) (keys $policy.profiles | sortAlpha) | uniq -}}
{{- $chosen := get $policy.defaults "profile" -}}
{{- if and $chosen (not (has $chosen $known)) -}}
{{- $problems = append $problems (printf "policy.defaults.profile is %s: there is no such profile; use one of %s, or add %s to policy.profiles." $chosen (join ", " $known) $chosen) -}}
{{- end -}}
{{- range $name, $set := $policy.profiles -}}
{{- if hasKey $set "profile" -}}
{{- $problems = append $problems (printf "policy.profiles.%s.profile is set: a profile cannot name another profile; remove this key." $name) -}}
{{- end -}}
{{- end -}}
{{- $places := dict "policy.defaults" $policy.defaults -}}
{{- range $name, $set := $policy.profiles -}}
{{- $_ := set $places (printf "policy.profiles.%s" $name) $set -}}
{{- end -}}
{{- range $place, $set := $places -}}
{{- range $key, $lowest := dict "port" 1024 "drain-ports" 1 "ignore-ports" 1 -}}
{{- range regexFindAll "[0-9]+" (get $set $key) -1 -}}
{{- if or (lt (atoi .) $lowest) (gt (atoi .) 65535) -}}
{{- $problems = append $problems (printf "%s.%s has %s: expected ports from %d to 65535." $place $key . $lowest) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "lastcall.relayProblems" -}}
{{- $problems := list -}}
{{- $relay := .Values.relay -}}
{{- if and $relay.enabled (eq (int $relay.port) (int .Values.webhook.port)) -}}
{{- $problems = append $problems (printf "relay.port and webhook.port are both %d: the two servers need different ports; change one of them." (int $relay.port)) -}}
{{- end -}}
{{- with include "lastcall.adminPort" . | int -}}
{{- if eq . (int $relay.port) -}}
{{- $problems = append $problems (printf "relay.adminPort and relay.port are both %d: the two servers need different ports; change one of them." .) -}}
{{- end -}}
{{- if lt . 1024 -}}
{{- $problems = append $problems (printf "relay.adminPort is %d: expected 0 to disable the port, or a port from 1024 to 65535, because the server does not run as root." .) -}}
{{- end -}}
{{- if eq . (int $.Values.webhook.port) -}}
{{- $problems = append $problems (printf "relay.adminPort and webhook.port are both %d: the two servers need different ports; change one of them." .) -}}
{{- end -}}
{{- if $.Values.webhook.hostNetwork -}}
{{- $problems = append $problems (printf "webhook.hostNetwork is true and relay.adminPort is %d: the port does not authenticate clients, and every process in the node's network namespace could connect to it, even on a loopback address; set relay.adminPort to 0." .) -}}
{{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "lastcall.otherProblems" -}}
{{- $problems := list -}}
{{- if not .Values.enabled -}}
{{- $problems = append $problems "enabled is false, but the chart itself does not use this value: it is for the condition of a parent chart's dependency; add `condition: lastcall.enabled` to that dependency, or set enabled to true." -}}
{{- end -}}
{{- if gt (include "lastcall.wholeSeconds" .Values.webhook.drainDelay | int64) 86400 -}}
{{- $problems = append $problems (printf "webhook.drainDelay is %s: expected at most 24h." .Values.webhook.drainDelay) -}}
{{- end -}}
{{- if and .Values.networkPolicy.webhookFrom (not .Values.networkPolicy.enabled) -}}
{{- $problems = append $problems "networkPolicy.webhookFrom is set and networkPolicy.enabled is false, so the list has no effect and every client can connect to the webhook's port: enable the NetworkPolicy, or leave the list empty." -}}
{{- end -}}
{{- if and .Values.webhook.strategy.rollingUpdate (eq "Recreate" (default "" .Values.webhook.strategy.type)) -}}
{{- $problems = append $problems "webhook.strategy.rollingUpdate is set and webhook.strategy.type is Recreate, which does not use it: use RollingUpdate, or remove rollingUpdate." -}}
{{- end -}}
{{- if and (gt (len .Values.webhook.ipFamilies) 1) (eq "SingleStack" .Values.webhook.ipFamilyPolicy) -}}
{{- $problems = append $problems "webhook.ipFamilies has two families and webhook.ipFamilyPolicy is SingleStack: use PreferDualStack or RequireDualStack, or set only one family." -}}
{{- end -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled -}}
{{- $problems = append $problems "monitoring.podMonitor.enabled and monitoring.serviceMonitor.enabled are both true: Prometheus would scrape every replica twice, which doubles all sums; enable only one of them." -}}
{{- end -}}
{{- if gt (len (include "lastcall.webhook" .)) 63 -}}
{{- $problems = append $problems (printf "the name of the Service would be %s: expected at most 63 characters; shorten nameOverride or revision." (include "lastcall.webhook" .)) -}}
{{- end -}}
{{- $bare := list -}}
{{- range $image := list .Values.image.webhook .Values.image.manager -}}
{{- $name := include "lastcall.image" (list $ $image) -}}
{{- if not (regexMatch "^([^/]*[.:][^/]*|localhost)/" $name) }}{{ $bare = append $bare $name }}{{ end -}}
{{- end -}}
{{- if and $bare (not .Values.image.allowEmptyRegistry) -}}
{{- $problems = append $problems (printf "image.registry is %s, so nodes would pull %s from their default registry, and a Pod does not start if its node cannot pull the manager's image: set image.registry to the registry with the images, such as registry.example/team, or set image.allowEmptyRegistry=true if every node has the images already." (quote .Values.image.registry) (join " and " $bare)) -}}
{{- end -}}
{{- $refused := concat (list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace) .Values.injection.excludedNamespaces -}}
{{- if and (or .Values.selfTest.enabled (eq .Values.failurePolicy "Fail")) (has .Values.selfTest.namespace $refused) -}}
{{- $problems = append $problems (printf "selfTest.namespace is %s, where Pods are never injected (the release's namespace is %s): install the release in a namespace of its own, or set selfTest.namespace to another namespace for the self-test and the dry-run Pods." .Values.selfTest.namespace .Release.Namespace) -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}
