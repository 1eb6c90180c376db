{{/*
Selects the Pods to inject, as a list of entries with a name and two selectors. Selectors have no "or", so there are two entries: Pods of
opted-in namespaces except those that opt out, and opted-in Pods of other namespaces. With a revision there are two of each: for Pods
with the revision's label, and for Pods without one in a namespace with it. No Pod matches two entries, of this or another release. The
webhook configuration and the policy that reports Pods without injection share the list.
*/}}
{{- define "lastcall.entries" -}}
{{- $injection := .Values.injection -}}
{{- $optsIn := dict "key" "lastcall.dev/inject" "operator" "In" "values" (list "enabled") -}}
{{- $optsInNot := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "enabled") -}}
{{- $optsOut := dict "key" "lastcall.dev/inject" "operator" "In" "values" (list "disabled") -}}
{{- $optsOutNot := dict "key" "lastcall.dev/inject" "operator" "NotIn" "values" (list "disabled") -}}
{{- $isOptOut := eq $injection.mode "opt-out" -}}
{{- $byNamespace := dict "name" "namespace" "namespace" (ternary $optsOutNot $optsIn $isOptOut) "pod" $optsOutNot -}}
{{- $byPod := dict "name" "pod" "namespace" (ternary $optsOut $optsInNot $isOptOut) "pod" $optsIn -}}
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
Selects the objects whose lastcall.dev labels and annotations are only checked: Namespaces and workloads of this release's revision, and
Pods that no entry above selects. One release checks each object.
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

{{/* An expression that excludes the namespaces without injection. */}}
{{- define "lastcall.elsewhere" -}}
{{- $never := concat (list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace) .Values.injection.excludedNamespaces | uniq -}}
{{- dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $never | toJson -}}
{{- end -}}

{{/* List: label selector, additional expressions. */}}
{{- define "lastcall.selector" -}}
{{- $given := deepCopy (index . 0) -}}
{{- set $given "matchExpressions" (concat (index . 1) (default list $given.matchExpressions)) | toJson -}}
{{- end -}}

{{/* Labels of the self-test's Pods that the selectors require, separated by commas. */}}
{{- define "lastcall.probeLabels" -}}
{{- $labels := merge dict .Values.selfTest.podLabels (default dict .Values.injection.objectSelector.matchLabels) -}}
{{- with .Values.revision }}{{ $_ := set $labels "lastcall.dev/revision" . }}{{ end -}}
{{- $texts := list -}}
{{- range $key, $value := $labels }}{{ $texts = append $texts (printf "%s=%s" $key $value) }}{{ end -}}
{{- join "," $texts -}}
{{- end -}}

{{/*
Conditions beyond selectors. The webhook checks them too; here they keep mirror Pods and Windows Pods running while the webhook is
unavailable. Pods with hostNetwork and similar skips are not excluded, so that their owner gets the reason.
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

{{/* Whether the object or its Pod template has a lastcall.dev label or annotation other than the status of an injection. */}}
{{- define "lastcall.hasSettings" -}}
[object, has(object.spec) && has(object.spec.template) ? object.spec.template : object,
has(object.spec) && has(object.spec.jobTemplate) ? object.spec.jobTemplate : object,
has(object.spec) && has(object.spec.jobTemplate) && has(object.spec.jobTemplate.spec) ? object.spec.jobTemplate.spec.template : object
].exists(o, has(o.metadata) &&
((has(o.metadata.annotations) && o.metadata.annotations.exists(k, k.startsWith('lastcall.dev/') && k != 'lastcall.dev/status')) ||
(has(o.metadata.labels) && o.metadata.labels.exists(k, k.startsWith('lastcall.dev/')))))
{{- end -}}
