#!/bin/bash
# PID 1 of the cluster's mount, network, PID, UTS and IPC namespaces. It prepares the namespaces, starts the
# queued programs and reaps zombies. When it exits, the kernel kills all programs and removes every mount and network device.
# Arguments: state folder, address of n1, address of n2, address of the host.
set -eu
STATE=$1 N1=$2 N2=$3 HOST=$4

# The parent writes "go" after it has stored the cluster's record, and "stay" when the cluster is up. If the parent exits
# before "stay", this process exits too.
read -r word && [ "$word" = go ]
exec 4<&0 </dev/null
hostname n1
mount --make-rprivate /
for folder in /run /var/log; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /run/netns /run/sysctl /var/log/pods /var/log/containers

# A kubelet changes these kernel parameters of the whole host if they differ from the kubelet's values. Files with the
# kubelet's values are mounted over the host's files, so that the kubelet changes nothing.
hide_sysctl() { echo "$2" >"/run/sysctl/${1//\//_}"; mount --bind "/run/sysctl/${1//\//_}" "/proc/sys/$1"; }
hide_sysctl vm/overcommit_memory 1
hide_sysctl vm/panic_on_oom 0
hide_sysctl kernel/panic 10
hide_sysctl kernel/panic_on_oops 1
hide_sysctl kernel/keys/root_maxkeys 1000000
hide_sysctl kernel/keys/root_maxbytes 25000000

# Node n1 uses this network namespace. Pod packets are routed and not bridged, so that responses pass the Service's address
# translation too.
ip link set lo up
ip link add nodes type bridge
ip addr add "$N1/24" dev nodes
ip link set nodes up
ip link set lan0 master nodes
ip link set lan0 up
ip route add default via "$HOST"
echo 1 >/proc/sys/net/ipv4/ip_forward

# Node n2 has its own network namespace and host name, which Pods with hostNetwork use.
ip netns add n2
ip link add n2 type veth peer name eth0 netns n2
ip link set n2 master nodes
ip link set n2 up
touch /run/uts-n2
unshare --uts=/run/uts-n2 hostname n2
nsenter --net=/run/netns/n2 --uts=/run/uts-n2 sh -c "
  ip link set lo up && ip addr add $N2/24 dev eth0 && ip link set eth0 up &&
  ip route add default via $HOST && ip route add 10.244.1.0/24 via $N1 && echo 1 >/proc/sys/net/ipv4/ip_forward"
ip route add 10.244.2.0/24 via "$N2"

# The queue has one line per program: the path of its script. This process also opens it for writing, so that no read reports EOF.
exec 3<>"$STATE/start/queue"
{ read -r word <&4 && [ "$word" = stay ]; } || echo end >&3 &
exec 4<&-
: >"$STATE/start/open"
while read -r script <&3 && [ "$script" != end ]; do bash "$script" 3>&- & done
