{{/*
Who is asked about. A selector cannot say "or", so there are two entries: opted-in namespaces without the Pods that
opted out, and opted-in Pods elsewhere. No Pod matches both. The webhook configuration and the policy that checks its
work use the same text.
*/}}
{{- define "lastcall.neverTouched" -}}
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: {{ list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace | uniq | toJson }}
{{- end -}}

{{- define "lastcall.namespaceEntry" -}}
namespaceSelector:
  matchExpressions:
    - key: lastcall.dev/inject
      operator: In
      values: [enabled]
    {{- include "lastcall.neverTouched" . | nindent 4 }}
objectSelector:
  matchExpressions:
    - key: lastcall.dev/inject
      operator: NotIn
      values: [disabled]
{{- end -}}

{{- define "lastcall.podEntry" -}}
namespaceSelector:
  matchExpressions:
    - key: lastcall.dev/inject
      operator: NotIn
      values: [enabled]
    {{- include "lastcall.neverTouched" . | nindent 4 }}
objectSelector:
  matchExpressions:
    - key: lastcall.dev/inject
      operator: In
      values: [enabled]
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
