#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Captures what the sampler reads of this machine for the tree below PID into FOLDER, laid out as
# tests/fixtures/*. Names that could tell whose machine it is are replaced: commands, arguments,
# control groups, interfaces that carry an id. Numbers stay as they are. Look at the result before
# you publish it.
#
# usage: capture_fixture.sh PID FOLDER
set -eu

if [ $# -ne 2 ] || [ ! -d "/proc/$1" ]; then
	echo "usage: $0 PID FOLDER (a running process, a folder to be made)" >&2
	exit 2
fi
root=$1
out=$2
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ]; then
	echo "$0: $out is not empty" >&2
	exit 1
fi
umask 077
mkdir -p "$out/proc/self" "$out/sys"
out=$(cd "$out" && pwd)

# copy FILE: to the same place below $out; what cannot be read is left out
copy() {
	mkdir -p "$out/${1%/*}"
	cat "/$1" >"$out/$1" 2>/dev/null || rm -f "$out/$1"
}

# The tree: PID and the children of every thread, and theirs.
tree=""
next=$root
while [ -n "$next" ]; do
	tree="$tree $next"
	found=""
	for pid in $next; do
		found="$found $(cat /proc/"$pid"/task/*/children 2>/dev/null || true)"
	done
	next=$(echo $found)
done

n=0
for pid in $tree; do
	n=$((n + 1))
	for file in stat statm io status cgroup schedstat smaps_rollup; do
		copy "proc/$pid/$file"
	done
	[ -s "$out/proc/$pid/stat" ] || { rm -rf "$out/proc/$pid"; continue; }
	for task in /proc/"$pid"/task/*; do
		copy "${task#/}/children"
	done
	sed -i "s/(.*)/(p$n)/" "$out/proc/$pid/stat"
	sed -i -n "s/^Name:.*/Name:\tp$n/p; /^\(State\|Tgid\|Pid\|PPid\|NSpid\|Vm\|Rss\|Hugetlb\|Threads\|Cpus_allowed_list\|voluntary_ctxt\|nonvoluntary_ctxt\)/p" \
		"$out/proc/$pid/status"
	printf 'p%d\0' "$n" >"$out/proc/$pid/cmdline"
done
copy "proc/$root/net/dev"

for file in stat meminfo vmstat diskstats loadavg pressure/cpu pressure/memory pressure/io; do
	copy "proc/$file"
done
copy proc/self/cgroup
copy proc/self/smaps_rollup
awk '{ for (i = 6; i < NF; i++) if ($i == "-" && $(i + 1) ~ /^cgroup2?$/) print }' \
	/proc/self/mountinfo >"$out/proc/self/mountinfo"
copy sys/devices/system/cpu/online

for dir in /sys/block/*; do
	[ -e "$dir" ] || continue
	mkdir -p "$out$dir/slaves"
	: >"$out$dir/slaves/.keep"
	for slave in "$dir"/slaves/*; do
		[ ! -e "$slave" ] || { mkdir -p "$out$slave" && : >"$out$slave/.keep"; }
	done
done
for dir in /sys/class/net/*; do
	[ -e "$dir" ] || continue
	mkdir -p "$out$dir"
	: >"$out$dir/.keep"
	for mark in device bridge brport; do
		[ ! -e "$dir/$mark" ] || { mkdir -p "$out$dir/$mark" && : >"$out$dir/$mark/.keep"; }
	done
	for lower in "$dir"/lower_*; do # what it stands on; which, is not asked
		[ ! -e "$lower" ] || { mkdir -p "$out$dir/lower_x" && : >"$out$dir/lower_x/.keep"; }
	done
done

# The groups of the tree and those above, with the files that are read of them.
while read -r mount path; do
	while :; do
		for file in cgroup.events release_agent cpu.max cpu.stat cpu.cfs_quota_us \
			cpu.cfs_period_us cpuacct.usage cpuset.cpus.effective cpuset.effective_cpus \
			cpuset.cpus memory.max memory.high memory.current memory.stat memory.events \
			memory.limit_in_bytes memory.usage_in_bytes memory.oom_control \
			memory.events.local memory.failcnt; do
			[ ! -r "$mount$path/$file" ] || copy "${mount#/}$path/$file"
		done
		[ -n "$path" ] || break
		path=${path%/*}
	done
done <<GROUPS
$(awk -v mounts="$out/proc/self/mountinfo" 'BEGIN {
	while ((getline line < mounts) > 0) {
		split(line, f, " ")
		sub(/.* - /, "", line)
		split(line, g, " ")
		key = g[1] == "cgroup2" ? "" : g[3]
		if (!(key in point)) # others are the same again, as in a folder with another root
			point[key] = f[5]
		top[f[5]] = f[4]
	}
}
{
	split($0, c, ":")
	for (options in point) {
		if (c[2] == "" ? options != "" : ("," options ",") !~ ("," c[2] ","))
			continue
		path = substr($0, length(c[1]) + length(c[2]) + 3)
		at = top[point[options]]
		if (at != "/" && index(path, at) == 1)
			path = substr(path, length(at) + 1)
		print point[options], path == "/" ? "" : path
	}
}' "/proc/$root/cgroup")
GROUPS

# Names of groups and of interfaces with an id become g1, g2, … and v1, v2, …
cut -d: -f3- "$out"/proc/*/cgroup | tr / '\n' | sort -u | awk 'NF { print length, $0 }' |
	sort -rn | cut -d' ' -f2- >"$out/names"
n=0
while read -r name; do
	n=$((n + 1))
	for file in "$out"/proc/*/cgroup "$out/proc/self/mountinfo"; do
		awk -v from="/$name" -v to="/g$n" '{
			line = ""
			while ((i = index($0, from)) > 0) {
				after = substr($0, i + length(from), 1)
				line = line substr($0, 1, i - 1) (after ~ /^[\/ ]?$/ ? to : from)
				$0 = substr($0, i + length(from))
			}
			print line $0
		}' "$file" >"$file.new"
		mv "$file.new" "$file"
	done
	find "$out/sys/fs/cgroup" -depth -type d -name "$name" 2>/dev/null | while read -r dir; do
		mv "$dir" "${dir%/*}/g$n"
	done
done <"$out/names"
rm -f "$out/names"
n=0
for dir in "$out"/sys/class/net/veth* "$out"/sys/class/net/br-*; do
	[ -e "$dir" ] || continue
	n=$((n + 1))
	sed -i "s/^\( *\)${dir##*/}:/\1v$n:/" "$out/proc/$root/net/dev"
	mv "$dir" "${dir%/*}/v$n"
done
find "$out" -name '*.new' -delete
echo "$out: $(echo $tree | wc -w) processes, $(find "$out" -type f | wc -l) files"
