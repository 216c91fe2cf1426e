#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# An array of jobs, each with a recording of its own: sbatch examples/sbatch-array.sh
# Then: tachograph show recordings
#SBATCH --array=1-4
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --time=0:10:00
set -eu
[ -n "${TACHOGRAPH_SOCKET-}" ] || { # the one hook: this script again, recorded
	export TACHOGRAPH_DIR="${SLURM_SUBMIT_DIR-.}/recordings"
	mkdir -p "$TACHOGRAPH_DIR" && exec tachograph record -- /bin/sh "$0" "$@"
}

tachograph mark sum part="$SLURM_ARRAY_TASK_ID"
awk -v n="$SLURM_ARRAY_TASK_ID" 'BEGIN { for (i = 0; i < n * 1000000; i++) s += i; print s }'
tachograph mark --end
