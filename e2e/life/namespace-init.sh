#!/bin/bash
# First process of the cluster's own mount, network, process, host name and IPC namespaces. It prepares them, starts what
# it is told to start, and buries the dead; when it dies, all that was started here dies with it, and every mount and
# network device goes. Arguments: state folder, this node's address, second node's address, the machine's address.
set -eu
STATE=$1 N1=$2 N2=$3 HOST=$4

# The program that started this says "go" once it has written down what to end, and "stay" when all is up. If it dies before, so
# does this, with all that was started.
read -r word && [ "$word" = go ]
exec 4<&0 </dev/null
hostname n1
mount --make-rprivate /
for folder in /run /var/log; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /run/netns /run/sysctl /var/log/pods /var/log/containers

# A kubelet insists on these values for the whole machine and writes them when they differ: it gets files of its own.
own_sysctl() { echo "$2" >"/run/sysctl/${1//\//_}"; mount --bind "/run/sysctl/${1//\//_}" "/proc/sys/$1"; }
own_sysctl vm/overcommit_memory 1
own_sysctl vm/panic_on_oom 0
own_sysctl kernel/panic 10
own_sysctl kernel/panic_on_oops 1
own_sysctl kernel/keys/root_maxkeys 1000000
own_sysctl kernel/keys/root_maxbytes 25000000

# Node n1 is this namespace. Every Pod packet is routed, none bridged, so answers pass the Service translation again.
ip link set lo up
ip link add nodes type bridge
ip addr add "$N1/24" dev nodes
ip link set nodes up
ip link set lan0 master nodes
ip link set lan0 up
ip route add default via "$HOST"
echo 1 >/proc/sys/net/ipv4/ip_forward

# Node n2 has a network namespace of its own, and a host name, which Pods with hostNetwork show.
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

# One line per program to start: the path of its script. Open for writing too, so that it never ends by itself.
exec 3<>"$STATE/start/queue"
{ read -r word <&4 && [ "$word" = stay ]; } || echo end >&3 &
exec 4<&-
: >"$STATE/start/open"
while read -r script <&3 && [ "$script" != end ]; do bash "$script" 3>&- & done
