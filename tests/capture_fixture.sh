#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Captures what the sampler reads of a machine for the tree below PID into FOLDER, laid out as
# tests/fixtures/*. The machine is this one, or that whose proc/, sys/ and dev/ are below ROOT, such
# as another capture. Left out are environments, and NVIDIA's GPUs, for which a library is asked.
#
# Numbers, and names of drivers and devices (eth0, nvme0n1, mlx5_0, card0), stay as they are. Names
# that could tell whose machine it is are replaced, the same one by the same everywhere:
#
#   p1       commands, with their arguments
#   /g1/g2   control groups
#   veth-1   interfaces that carry an id or a name of their own, by their kind; or if-1
#   s1:/e1   NFS servers and exports
#   /m1      mount points, and /r1 what of a file system is mounted there
#   l1-1     Lustre file systems and their mounts
#
# Of texts that name more only the lines and mount options are taken that do not. Look at the result
# before you publish it.
#
# usage: capture_fixture.sh PID FOLDER [ROOT]
set -eu

if [ $# -lt 2 ] || [ $# -gt 3 ] || [ ! -d "${3:-}/proc/$1" ]; then
	echo "usage: $0 PID FOLDER [ROOT] (a running process, a folder to be made)" >&2
	exit 2
fi
root=$1
out=$2
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ]; then
	echo "$0: $out is not empty" >&2
	exit 1
fi
umask 077
export LC_ALL=C # folders are listed in one order
mkdir -p "$out/raw/proc" # what names are still in
out=$(cd "$out" && pwd)
trap 'rm -rf "$out/raw"' EXIT
trap 'exit 1' HUP INT TERM
cd "${3:-/}"
tab=$(printf '\t')

# put FILE TO: copy it to that place below $out; what cannot be read is left out
put() {
	[ -r "$1" ] || return 0
	mkdir -p "$out/${2%/*}"
	cat "$1" >"$out/$2" 2>/dev/null || rm -f "$out/$2"
}

# take FILE...: into raw, for one who strips it and writes it to the same place
take() {
	for file; do
		put "$file" "raw/$file"
		[ ! -e "$out/raw/$file" ] || mkdir -p "$out/${file%/*}"
	done
}

# copy FILE...: to the same place
copy() {
	for file; do
		put "$file" "$file"
	done
}

# mark FOLDER...: make it below $out, with a file in it, as git keeps no empty ones
mark() {
	for folder; do
		mkdir -p "$out/$folder"
		: >"$out/$folder/.keep"
	done
}

# hold FOLDER...: that it is there
hold() {
	for folder; do
		[ ! -d "$folder" ] || mark "$folder"
	done
}

# hold_link LINK...: where it leads
hold_link() {
	for link; do
		if to=$(readlink "$link"); then
			mkdir -p "$out/${link%/*}"
			ln -s "$to" "$out/$link"
		fi
	done
}

# ---- processes ----

# put_stat PID NAME: false when it is gone
put_stat() {
	mkdir -p "$out/proc/$1"
	sed "s/(.*)/($2)/" "proc/$1/stat" >"$out/proc/$1/stat" 2>/dev/null || :
	[ -s "$out/proc/$1/stat" ] && return
	rm -rf "$out/proc/$1"
	return 1
}

# put_children PID: of hundreds of threads, so not with a process for each
put_children() {
	set -- "proc/$1"/task/*/children
	[ -r "$1" ] || return 0
	for file; do
		echo "${file%/*}"
	done | (cd "$out" && xargs mkdir -p)
	for file; do
		list=""
		{ IFS="" read -r list <"$file"; } 2>/dev/null || :
		printf '%s' "$list" >"$out/$file"
	done
}

# put_status FOLDER NAME
put_status() {
	[ -r "$1/status" ] || return 0
	mkdir -p "$out/$1"
	sed -n -E -e "s/^Name:.*/Name:$tab$2/p" \
		-e '/^(State|Tgid|Pid|PPid|NSpid|(Vm|Rss)[A-Za-z]*|HugetlbPages|Threads):/p' \
		-e '/^(Cpus_allowed_list|(non)?voluntary_ctxt_switches):/p' \
		"$1/status" >"$out/$1/status" 2>/dev/null || :
}

# put_clients PID: the descriptors that are a GPU driver's, and what those say
put_clients() {
	# shellcheck disable=SC2012 # numbers; one process for all of them
	ls -l "proc/$1/fd" 2>/dev/null |
		sed -n 's|.* \([0-9][0-9]*\) -> \(/dev/dri/[A-Za-z0-9]*\)$|\1 \2|p' |
		while read -r fd device; do
			mkdir -p "$out/proc/$1/fd" "$out/proc/$1/fdinfo"
			ln -s "$device" "$out/proc/$1/fd/$fd"
			grep -E -e '^drm-(driver|pdev|client-id):' \
				-e '^drm-(engine|cycles|total-cycles|resident|memory)-.*:' \
				"proc/$1/fdinfo/$fd" >"$out/proc/$1/fdinfo/$fd" 2>/dev/null || :
		done
}

# The tree: PID and the children of every thread, and theirs. Kernels that do not list children
# tell the parent.
if [ -e "proc/$root/task/$root/children" ]; then
	children_of() {
		cat proc/"$1"/task/*/children 2>/dev/null || :
	}
else
	parents=$(cat proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)//' | awk '{ print $3, $1 }')
	children_of() {
		echo "$parents" | awk -v pid="$1" '$1 == pid { print $2 }'
	}
fi
tree=" $root "
next=$root
while [ -n "$next" ]; do
	found=""
	for pid in $next; do
		for child in $(children_of "$pid"); do
			case $tree in
			*" $child "*) ;;
			*)
				tree="$tree$child "
				found="$found $child"
				;;
			esac
		done
	done
	next=$found
done

n=0
for pid in $tree; do
	n=$((n + 1))
	put_stat "$pid" "p$n" || continue
	put_status "proc/$pid" "p$n"
	copy "proc/$pid/statm" "proc/$pid/schedstat"
	put_children "$pid"
	take "proc/$pid/cgroup"
	printf 'p%d\0' "$n" >"$out/proc/$pid/cmdline"
	read -r stat <"$out/proc/$pid/stat" || :
	case ${stat##*)} in
	" D "*) continue ;; # the rest could make us wait for it
	" Z "*) # its threads may live
		for task in "proc/$pid"/task/*; do
			copy "$task/statm" "$task/smaps_rollup"
			put_status "$task" "p$n"
		done
		;;
	esac
	copy "proc/$pid/io" "proc/$pid/smaps_rollup"
	[ ! -d dev/dri ] || put_clients "$pid"
done

# What is asked of the root, and without one of ourselves.
copy proc/self/statm proc/self/schedstat proc/self/smaps_rollup
put_status proc/self p0
take proc/self/cgroup
for of in self "$root"; do
	take "proc/$of/mountinfo" "proc/$of/mountstats" "proc/$of/net/dev"
done
hold_link proc/self/ns/net "proc/$root/ns/net"

# ---- the machine and its devices ----

copy proc/stat proc/meminfo proc/vmstat proc/diskstats proc/loadavg proc/pressure/cpu \
	proc/pressure/memory proc/pressure/io proc/sys/kernel/perf_event_paranoid \
	sys/devices/system/cpu/online

# Disks; and by their numbers, with what they stand on, as links to folders without the places of
# buses.
hold sys/block/* sys/block/*/slaves sys/block/*/slaves/*
for link in sys/dev/block/*; do
	to=$(readlink "$link") || continue
	name=${to##*/}
	to=${to%/*}
	[ ! -e "$link/partition" ] || name=${to##*/}/$name
	mkdir -p "$out/sys/dev/block"
	mark "sys/devices/block/$name"
	ln -s "../../devices/block/$name" "$out/$link"
	copy "$link/dev" "$link/partition" "$link"/slaves/*/dev
done

hold sys/class/infiniband
for port in sys/class/infiniband/*/ports/*; do
	copy "$port/state" "$port/link_layer" "$port/rate" "$port"/counters/port_* \
		"$port"/counters_ext/port_*
done

for zone in sys/class/powercap/intel-rapl:*; do
	copy "$zone/name" "$zone/energy_uj" "$zone/max_energy_range_uj"
done
for label in $(grep -l '^Esocket' sys/class/hwmon/*/energy*_label 2>/dev/null || :); do
	copy "${label%/*}/name" "$label" "${label%_label}_input"
done

hold dev/dri
for node in dev/dri/*[0-9]; do
	[ ! -e "$node" ] || : >"$out/$node"
done
for card in sys/class/drm/card*; do
	case ${card##*/card} in *[!0-9]*) continue ;; esac # what is plugged in
	device=$card/device
	copy "$device/power/runtime_status"
	for file in "$device"/gpu_busy_percent "$device"/mem_info_vram_used \
		"$device"/mem_info_vram_total "$device"/hwmon/*/power1_average \
		"$device"/hwmon/*/power1_input; do
		[ -e "$file" ] || continue
		if grep -q ^suspend "$device/power/runtime_status" 2>/dev/null; then
			mkdir -p "$out/${file%/*}"
			: >"$out/$file" # reading would wake it
		else
			copy "$file"
		fi
	done
	if [ -r "$device/uevent" ]; then
		mkdir -p "$out/$device"
		grep -E '^(DRIVER|PCI_SLOT_NAME)=' "$device/uevent" >"$out/$device/uevent" || :
	fi
done

# scratch-ffff8881a2b3c000: a file system, and one mount of it
hold proc/fs/lustre sys/fs/lustre sys/kernel/debug/lustre
ls -d proc/fs/lustre/llite/*/stats sys/fs/lustre/llite/*/stats \
	sys/kernel/debug/lustre/llite/*/stats 2>/dev/null >"$out/raw/lustre" || :
awk -F/ '{
	from = $0
	name = $(NF - 1)
	sub(/-[^-]*$/, "", name)
	if (!(name in known))
		known[name] = ++n
	sub(/[^\/]*\/stats$/, "")
	print from "\t" $0 "l" known[name] "-" NR "/stats"
}' "$out/raw/lustre" >"$out/raw/list"
while IFS=$tab read -r from to; do
	put "$from" "$to"
done <"$out/raw/list"

# ---- interfaces ----

for dir in sys/class/net/*/; do
	[ ! -d "$dir" ] || basename "$dir"
done >"$out/raw/interfaces"
# shellcheck disable=SC2046 # proc/PID/… has no blanks
(cd "$out/raw" && awk '
function named(name,   base, prefix) {
	base = name
	sub(/\.[0-9]+$/, "", base) # a VLAN
	if (base ~ /^(lo|(eth|wlan|ib|bond|br|docker|virbr|tun|tap|hsn|usb)[0-9]+)$/ ||
		base ~ /^(en|ib|wl|ww)([cdfinopsuvP]+[0-9]+)+$/) # by the place of the device
		return name
	# the kind of those that a host has for its containers is known by how they begin
	prefix = match(name, /^(veth|docker|virbr|cni|br-)/) ? substr(name, 1, RLENGTH) : "if"
	sub(/-$/, "", prefix)
	if (!(name in known))
		known[name] = prefix "-" (++count[prefix])
	return known[name]
}
FNR == 1 {
	to = "../" FILENAME
}
FILENAME == "interfaces" {
	print $0 "\t" named($0)
	next
}
{
	if ((end = index($0, ":"))) {
		name = substr($0, 1, end - 1)
		gsub(/ /, "", name)
		$0 = named(name) substr($0, end)
	}
	print > to
}' interfaces $(find proc -path '*/net/dev')) >"$out/raw/list"
while IFS=$tab read -r from to; do
	mark "sys/class/net/$to"
	for part in device bridge brport; do
		[ ! -e "sys/class/net/$from/$part" ] || mark "sys/class/net/$to/$part"
	done
	for lower in "sys/class/net/$from"/lower_*; do # what it stands on; which, is not asked
		[ ! -e "$lower" ] || mark "sys/class/net/$to/lower_x"
	done
done <"$out/raw/list"

# ---- mounts, and control groups with those above them ----

# shellcheck disable=SC2046 # proc/PID/… has no blanks
(cd "$out/raw" && awk '
function named(kind, name) {
	if (!((kind, name) in known))
		known[kind, name] = kind (++count[kind])
	return known[kind, name]
}
# Each folder but those that are the same on every machine
function groups(path,   n, part, i, to) {
	n = split(path, part, "/")
	for (i = 2; i <= n; i++)
		to = to "/" (part[i] in usual ? part[i] : named("g", part[i]))
	return to
}
function root_of(path) {
	return path == "/" ? path : "/" named("r", path)
}
function point(path) {
	return path == "/" ? path : "/" named("m", path)
}
# nas:/export/home
function export(device,   at) {
	at = index(device, ":/")
	if (!at)
		return named("s", device)
	return named("s", substr(device, 1, at - 1)) ":/" named("e", substr(device, at + 1))
}
# Words, and values of those that name nobody
function options(list,   n, part, i, key, to) {
	n = split(list, part, ",")
	for (i = 1; i <= n; i++) {
		key = part[i]
		if (key ~ /^[a-z_]+$/ || (sub(/=[a-z0-9.]+$/, "", key) && key in harmless))
			to = to (to == "" ? "" : ",") part[i]
	}
	return to
}
# What is left of a path of a group below the root of a mount; "" when it is not below it
function below(path, top) {
	if (top == "/")
		top = ""
	path = index(path "/", top "/") == 1 ? substr(path, length(top) + 1) : ""
	return path ~ /\/\.\.(\/|$)/ || path == "/" ? "" : path
}
function words(list, to,   n, word) {
	for (n = split(list, word, " "); n; n--)
		to[word[n]]
}
function plain(path,   at) {
	gsub(/\\040/, " ", path)
	while ((at = index(path, "\\134")))
		path = substr(path, 1, at - 1) "\\" substr(path, at + 4)
	return path
}
BEGIN {
	words(". .. sys fs proc cgroup unified systemd cpu cpuacct cpu,cpuacct cpuset", usual)
	words("memory blkio devices freezer pids perf_event net_cls,net_prio hugetlb rdma", usual)
	usual[""] # "/" alone
	words("vers rsize wsize namlen proto port nconnect timeo retrans sec local_lock", harmless)
	words("mountvers mountproto hidepid", harmless)
}
FNR == 1 {
	close(to)
	to = "../" FILENAME
	printf "" > to
	asked = FILENAME ~ "^proc/(self|" root ")/"
}
FILENAME ~ /cgroup$/ {
	split($0, field, ":")
	path = substr($0, length(field[1]) + length(field[2]) + 3)
	sub(/^name=.*/, "name=systemd", field[2])
	print field[1] ":" field[2] ":" groups(path) > to
	if (asked && field[2] ~ /^$|^(cpu|cpuacct|cpuset|memory)(,|$)/) {
		group[++n_groups] = path
		controllers[n_groups] = field[2]
	}
	next
}
FILENAME ~ /mountinfo$/ {
	for (dash = 7; dash < NF && $dash != "-"; dash++)
		continue
	if ($dash != "-")
		next
	type = $(dash + 1)
	if (type ~ /^(cgroup2?|proc)$/) {
		if (type != "proc" && FILENAME ~ /self/) {
			top[++n_mounts] = plain($4)
			at[n_mounts] = plain($5)
			has[n_mounts] = type == "cgroup2" ? "" : $(dash + 3)
		}
		$4 = groups(plain($4))
		$5 = groups(plain($5))
		$(dash + 2) = type
	} else if (type ~ /^nfs4?$/ || $3 !~ /^0:/) {
		$4 = root_of($4)
		$5 = point($5)
		$(dash + 2) = type ~ /^nfs/ ? export($(dash + 2)) : "none"
		sub(/\..*/, "", $(dash + 1))
	} else {
		next
	}
	$6 = options($6)
	$(dash + 3) = options($(dash + 3))
	NF = dash + 3
	print > to
	next
}
# device nas:/export/home mounted on /home with fstype nfs4 statvers=1.1
/^(no )?device / {
	nfs = $1 == "device" && $8 ~ /^nfs4?$/ && $9 ~ /^statvers=[0-9.]+$/
	in_ops = 0
	if (nfs)
		print "device " export($2) " mounted on " point($5) " with fstype " $8 " " $9 > to
	next
}
nfs && $1 == "opts:" {
	print "\topts:\t" options($2) > to
}
/^\tper-op statistics$/ {
	in_ops = 1
}
# What a server has said of itself may have lines that look like others.
nfs && ($0 == "" || /^\t((age|bytes|events):[\t 0-9]*|xprt:\t[a-z]+ [0-9 ]*|per-op statistics)$/ ||
	(in_ops && /^[\t ]+[A-Z_]+:[0-9 ]*$/)) {
	print > to
}
END {
	for (g = 1; g <= n_groups; g++)
		for (m = 1; m <= n_mounts; m++) {
			# of version 2 neither has any
			if (!index("," has[m] ",", "," controllers[g] ","))
				continue
			path = below(group[g], top[m])
			leaf = controllers[g] ~ /^$|cpuacct/ ? "leaf" : "above"
			for (; !seen[m, path]++; leaf = "above") {
				print at[m] path "\t" groups(at[m]) groups(path) "\t" leaf
				sub(/\/[^\/]*$/, "", path)
			}
		}
}' root="$root" /dev/null $(find proc -type f ! -path '*/net/dev' | sort)) >"$out/raw/list"
while IFS=$tab read -r from to leaf; do
	from=${from#/}
	to=${to#/}
	for file in cgroup.events cpu.max cpu.stat cpu.cfs_quota_us cpu.cfs_period_us cpuacct.usage \
		cpuset.cpus.effective cpuset.effective_cpus cpuset.cpus memory.max memory.high \
		memory.current memory.stat memory.events memory.events.local \
		memory.limit_in_bytes memory.usage_in_bytes memory.oom_control memory.failcnt; do
		put "$from/$file" "$to/$file"
	done
	if [ -e "$from/release_agent" ]; then # a program: that there is one, is what is asked
		mkdir -p "$out/$to"
		: >"$out/$to/release_agent"
	fi
	[ "$leaf" = leaf ] || continue
	# Whether others than the tree are in the group, or groups below it
	put "$from/cgroup.procs" "$to/cgroup.procs"
	for folder in "$from"/*/; do
		[ ! -d "$folder" ] || mark "$to/below"
	done
	others=0
	for pid in $(cat "$out/$to/cgroup.procs" 2>/dev/null || :); do
		if [ -e "$out/proc/$pid" ] || ! put_stat "$pid" p0; then
			continue
		fi
		others=$((others + 1))
		[ "$others" -lt 65 ] || break # where the sampler gives up
	done
done <"$out/raw/list"

rm -rf "$out/raw"
echo "$out: $(echo "$tree" | wc -w) processes, $(find "$out" -type f | wc -l) files"
