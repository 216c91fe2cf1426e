#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A pipeline that records itself when it is asked to, and leaves a report and tables of it: pipeline.sh [-P] [LINES]
set -eu
[ "${1-}" != -P ] || { shift && exec tachograph record --report pipeline.html --csv pipeline-csv -- "$0" "$@"; }

lines=${1:-200000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v tachograph >/dev/null || tachograph() { :; } # then nothing has a name, and all works

tachograph mark make lines="$lines"
awk -v n="$lines" 'BEGIN { srand(1); for (i = 0; i < n; i++) print int(rand() * 1e9), i % 97 }' >"$work/made"
tachograph mark --end

tachograph mark sort
sort -n "$work/made" >"$work/sorted"
tachograph mark --end

tachograph mark count # by two at once, each with a name of its own
for half in even odd; do
	(
		tachograph mark "$half"
		awk -v odd="$([ "$half" = odd ] && echo 1 || echo 0)" '$2 % 2 == odd { n++ } END { print n }' \
			"$work/sorted" >"$work/$half"
	) &
done
wait
tachograph mark --end

echo "$(cat "$work/even") even, $(cat "$work/odd") odd"
