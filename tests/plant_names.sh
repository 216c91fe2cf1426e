#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# For tests of capture_fixture.sh: makes the tree of a machine below FOLDER, whose root is process
# 600, of those in FIXTURES. In each place that can name a machine, or who uses it, is "zanzibar".
#
# usage: plant_names.sh FIXTURES FOLDER
set -eu

fixtures=$1
cd "$2"
cp -r "$fixtures/cluster/." .
cp -r "$fixtures/amd/dev" .
cp -r "$fixtures/amd/sys/class/drm" sys/class
cp "$fixtures/workstation/proc/diskstats" proc

# name FILE...: write the name into new files
name() {
	for file; do
		mkdir -p "${file%/*}"
		echo zanzibar >"$file"
	done
}

name etc/hostname proc/version proc/sys/kernel/hostname

# Processes: the first thread of the root has ended and another runs, which has two children. Of
# these one says that the root is its child, and the other must not be asked for more.
mkdir -p proc/600/task/602 proc/601/task/601 proc/603
sed 's/600 (sh) S 1 /601 (zanzibar) S 600 /' proc/600/stat >proc/601/stat
sed 's/600 (sh) S 1 /603 (zanzibar) D 600 /' proc/600/stat >proc/603/stat
cp proc/600/statm proc/601
cp proc/600/statm proc/603
cp proc/600/statm proc/600/task/602
sed -i 's/(sh) S/(zanzibar) x) Z/; s/ 20 0 1 0 / 20 0 2 0 /' proc/600/stat
echo '0 0 0 0 0 0 0' >proc/600/statm
sed -i 's/sh$/zanzibar/; $a Groups: zanzibar' proc/600/status
cp proc/600/status proc/600/task/602
cp proc/600/status proc/601
cp proc/600/status proc/603
printf '601 603 ' >proc/600/task/602/children
printf '600 ' >proc/601/task/601/children
name proc/603/io proc/603/smaps_rollup
name proc/600/cmdline proc/600/environ proc/601/cmdline proc/601/environ

# Mounts: of NFS, of disks, of others. A server says more than one line of itself.
sed -i -e 's,nas:,nas.zanzibar.org:,; s,/export/h,/zanzibar/h,; s,old:,zanzibar:,' \
	-e 's, /home , /home/zanzibar ,; s,/srv/alice ,/srv/zanzibar ,; s,/run/x,/zanzibar,' \
	-e 's, /alice , /zanzibar ,; s,/dev/sda2,/dev/mapper/zanzibar,' \
	-e 's/addr=[0-9.]*/addr=zanzibar/g; s/opts:.*/&,addr=zanzibar,fscache=zanzibar/' \
	-e 's/a server$/a zanzibar/; s/example.org/zanzibar/' \
	-e 's,device tmpfs,device zanzibar,; s/^\tcaps:.*/&\n\tZANZIBAR: 1 2 3 4 5 6 7 8/' \
	proc/600/mountstats proc/600/mountinfo
cat >>proc/600/mountinfo <<'END'
70 28 8:3 /zanzibar /data/zanzibar rw shared:9 - fuse.zanzibar LABEL=zanzibar rw,subvol=/zanzibar
71 28 0:60 / /zanzibar rw - overlay zanzibar rw,lowerdir=/zanzibar
END

# Disks, by a place at a bus that has a name
bus=sys/devices/zanzibar/block/sda
name $bus/device/serial $bus/device/model sys/block/dm-0/dm/name sys/block/dm-0/dm/uuid
mkdir -p sys/dev/block sys/block/sda/slaves sys/block/dm-0/slaves/sda2
echo 8:0 >$bus/dev
ln -s ../../../$bus sys/dev/block/8:0
for n in 2 3; do
	mkdir $bus/sda$n
	echo $n >$bus/sda$n/partition
	echo 8:$n >$bus/sda$n/dev
	ln -s ../../../$bus/sda$n sys/dev/block/8:$n
done

# Adapters, Lustre, sensors
name sys/class/infiniband/mlx5_0/node_desc sys/class/infiniband/mlx5_0/node_guid \
	sys/class/infiniband/mlx5_0/ports/1/gids/0
mv sys/kernel/debug/lustre/llite/work-1-ffff8881a2b3f000 \
	sys/kernel/debug/lustre/llite/zanzibar-1-ffff8881a2b3f000
name sys/kernel/debug/lustre/llite/zanzibar-1-ffff8881a2b3f000/sbi_flags
name sys/class/hwmon/hwmon0/name sys/class/hwmon/hwmon0/temp1_label

# GPUs, of which the second sleeps and must not be read, and who uses them
name sys/class/drm/card1/device/mem_info_vram_used
name sys/class/drm/card0/device/serial_number sys/class/drm/card0/device/unique_id
echo MODALIAS=zanzibar >>sys/class/drm/card0/device/uevent
mkdir proc/601/fd proc/601/fdinfo dev/dri/by-zanzibar
ln -s /home/zanzibar/x proc/601/fd/3
ln -s /dev/dri/renderD128 proc/601/fd/4
name proc/601/fdinfo/3
cat >proc/601/fdinfo/4 <<'END'
lock:	1: zanzibar
drm-driver:	amdgpu
drm-client-id:	7
drm-client-name:	zanzibar
drm-pdev:	0000:03:00.0
drm-engine-gfx:	5 ns
END

# Interfaces: of a container, by an address, by a word of its own, with a VLAN on it
mkdir -p proc/600/net
for interface in lo enp3s0f0np1 vethzanzibar br-zanzibar enx00zanzibar wg-zanzibar zanzibar0.7; do
	name sys/class/net/$interface/ifalias
	echo "$interface: 8 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0" >>proc/600/net/dev
done
mkdir sys/class/net/zanzibar0.7/lower_wg-zanzibar sys/class/net/br-zanzibar/bridge
name sys/class/net/bonding_masters

# Groups: of version 2, with another process; of version 1; hidepid
mkdir -p proc/self proc/999
cat >proc/600/cgroup <<'END'
3:name=zanzibar:/zanzibar
2:memory:/zanzibar/m
0::/zanzibar.slice/a\x2dzanzibar/zanzibar
END
cp proc/600/cgroup proc/self
cat >proc/self/mountinfo <<'END'
30 1 0:28 /zanzibar.slice/a\134x2dzanzibar /sys/fs/cgroup/unified rw - cgroup2 zanzibar rw
31 1 0:29 / /zanzibar/cgroup/memory rw - cgroup zanzibar rw,memory
32 1 0:31 / /zanzibar/x rw - cgroup zanzibar rw,name=zanzibar
33 1 0:32 / /zanzibar/proc rw - proc zanzibar rw,hidepid=2
END
sed 's/601 (zanzibar) S 600/999 (zanzibar) S 1/' proc/601/stat >proc/999/stat
name zanzibar/cgroup/memory/release_agent
mkdir -p zanzibar/cgroup/memory/zanzibar/m
echo 77 >zanzibar/cgroup/memory/zanzibar/m/memory.usage_in_bytes
group=sys/fs/cgroup/unified/zanzibar
mkdir -p $group
echo 'populated 1' >$group/cgroup.events
echo 'usage_usec 99000000' >$group/cpu.stat
printf '%s\n' 600 601 603 999 >$group/cgroup.procs
