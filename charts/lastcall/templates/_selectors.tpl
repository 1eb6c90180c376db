{{/*
Who is asked about, as a list of entries with a name and two selectors. A selector cannot say "or", so there are two: Pods whose
namespace wants injection without those that decline, and Pods that ask for it elsewhere. With a revision there are two of each, as
the Pod names the revision, or names none and its namespace does; without one, neither does. No Pod matches two entries, of this or of
another release. The webhook configuration and the policy that checks its work use the same list.
*/}}
{{- define "lastcall.entries" -}}
{{- $injection := .Values.injection -}}
{{- $says := dict "key" "lastcall.dev/inject" "operator" "In" "values" (list "enabled") -}}
{{- $saysNot := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "enabled") -}}
{{- $declines := dict "key" "lastcall.dev/inject" "operator" "In" "values" (list "disabled") -}}
{{- $declinesNot := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "disabled") -}}
{{- $isOptOut := eq $injection.mode "opt-out" -}}
{{- $byNamespace := dict "name" "namespace" "namespace" (ternary $declinesNot $says $isOptOut) "pod" $declinesNot -}}
{{- $byPod := dict "name" "pod" "namespace" (ternary $declines $saysNot $isOptOut) "pod" $says -}}
{{- $elsewhere := include "lastcall.elsewhere" . | fromJson -}}
{{- $noRevision := dict "key" "lastcall.dev/revision" "operator" "DoesNotExist" -}}
{{- $thisRevision := dict "key" "lastcall.dev/revision" "operator" "In" "values" (list .Values.revision) -}}
{{- $choices := list (dict "name" "" "namespace" (list (ternary $noRevision $thisRevision (empty .Values.revision))) "pod" (list $noRevision)) -}}
{{- if .Values.revision -}}
{{- $choices = append $choices (dict "name" "-own-revision" "namespace" list "pod" (list $thisRevision)) -}}
{{- end -}}
{{- $entries := list -}}
{{- range $choice := $choices -}}
{{- range list $byNamespace $byPod -}}
{{- $namespaces := concat (list .namespace $elsewhere) $choice.namespace -}}
{{- $pods := concat (list .pod) $choice.pod -}}
{{- $namespaceSelector := include "lastcall.selector" (list $injection.namespaceSelector $namespaces) | fromJson -}}
{{- $objectSelector := include "lastcall.selector" (list $injection.objectSelector $pods) | fromJson -}}
{{- $selectors := dict "namespaceSelector" $namespaceSelector "objectSelector" $objectSelector -}}
{{- $entries = append $entries (dict "name" (print .name $choice.name) "selectors" $selectors) -}}
{{- end -}}
{{- end -}}
{{- toJson $entries -}}
{{- end -}}

{{/*
Who is asked only whether its lastcall.dev labels and annotations are right: Namespaces and workloads of this release's revision, and Pods
that neither entry above chooses. Each object is asked about by one release.
*/}}
{{- define "lastcall.settingsEntries" -}}
{{- $injection := .Values.injection -}}
{{- $optedOut := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "enabled") -}}
{{- if eq $injection.mode "opt-out" }}{{ $optedOut = dict "key" "lastcall.dev/inject" "operator" "In" "values" (list "disabled") }}{{ end -}}
{{- $undecided := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "enabled" "disabled") -}}
{{- $elsewhere := include "lastcall.elsewhere" . | fromJson -}}
{{- $noRevision := dict "key" "lastcall.dev/revision" "operator" "DoesNotExist" -}}
{{- $thisRevision := dict "key" "lastcall.dev/revision" "operator" "In" "values" (list .Values.revision) -}}
{{- $revision := ternary $noRevision $thisRevision (empty .Values.revision) -}}
{{- $namespaces := include "lastcall.selector" (list $injection.namespaceSelector (list $elsewhere $revision)) | fromJson -}}
{{- $unselected := include "lastcall.selector" (list $injection.namespaceSelector (list $optedOut $elsewhere $revision)) | fromJson -}}
{{- $pods := include "lastcall.selector" (list $injection.objectSelector (list $undecided $noRevision)) | fromJson -}}
{{- $ofObjects := dict "name" "settings" "selectors" (dict "namespaceSelector" $namespaces) -}}
{{- $ofPods := dict "name" "pod-settings" "selectors" (dict "namespaceSelector" $unselected "objectSelector" $pods) -}}
{{- list $ofObjects $ofPods | toJson -}}
{{- end -}}

{{/* The namespaces in which no Pod is injected, as an expression that leaves them out. */}}
{{- define "lastcall.elsewhere" -}}
{{- $never := concat (list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace) .Values.injection.excludedNamespaces | uniq -}}
{{- dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $never | toJson -}}
{{- end -}}

{{/* Of a list: a label selector, and expressions that must hold beside it. */}}
{{- define "lastcall.selector" -}}
{{- $given := deepCopy (index . 0) -}}
{{- set $given "matchExpressions" (concat (index . 1) (default list $given.matchExpressions)) | toJson -}}
{{- end -}}

{{/* What the self-test's Pods carry beside their own label, so that the selectors find them; as text with commas between. */}}
{{- define "lastcall.probeLabels" -}}
{{- $labels := merge dict .Values.selfTest.podLabels (default dict .Values.injection.objectSelector.matchLabels) -}}
{{- with .Values.revision }}{{ $_ := set $labels "lastcall.dev/revision" . }}{{ end -}}
{{- $texts := list -}}
{{- range $key, $value := $labels }}{{ $texts = append $texts (printf "%s=%s" $key $value) }}{{ end -}}
{{- join "," $texts -}}
{{- end -}}

{{/*
What selectors cannot see. The webhook checks all of it again; asking less keeps mirror Pods and Windows running even
while it is away. Pods with hostNetwork and the like are asked about, because their owner should hear the reason.
*/}}
{{- define "lastcall.conditions" -}}
- name: not-a-mirror-pod
  expression: >-
    !has(object.metadata.annotations) ||
    !('kubernetes.io/config.mirror' in object.metadata.annotations)
- name: not-opted-out-by-annotation
  expression: >-
    !has(object.metadata.annotations) ||
    !('lastcall.dev/inject' in object.metadata.annotations) ||
    object.metadata.annotations['lastcall.dev/inject'] != 'disabled'
- name: not-for-windows
  expression: >-
    (!has(object.spec.os) || object.spec.os.name != 'windows') &&
    (!has(object.spec.nodeSelector) ||
    !['kubernetes.io/os', 'beta.kubernetes.io/os'].exists(key,
    key in object.spec.nodeSelector && object.spec.nodeSelector[key] == 'windows'))
- name: not-for-windows-by-affinity
  expression: >-
    !has(object.spec.affinity) || !has(object.spec.affinity.nodeAffinity) ||
    !has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution) ||
    !object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.all(term,
    has(term.matchExpressions) && term.matchExpressions.exists(wish,
    wish.key in ['kubernetes.io/os', 'beta.kubernetes.io/os'] && wish.operator == 'In' &&
    has(wish.values) && wish.values.all(value, value == 'windows')))
{{- end -}}

{{/* Whether the object or a Pod template in it has a label or annotation of ours; the note of an injection is none. */}}
{{- define "lastcall.hasSettings" -}}
[object, has(object.spec) && has(object.spec.template) ? object.spec.template : object,
has(object.spec) && has(object.spec.jobTemplate) ? object.spec.jobTemplate : object,
has(object.spec) && has(object.spec.jobTemplate) && has(object.spec.jobTemplate.spec) ? object.spec.jobTemplate.spec.template : object
].exists(o, has(o.metadata) &&
((has(o.metadata.annotations) && o.metadata.annotations.exists(k, k.startsWith('lastcall.dev/') && k != 'lastcall.dev/status')) ||
(has(o.metadata.labels) && o.metadata.labels.exists(k, k.startsWith('lastcall.dev/')))))
{{- end -}}
