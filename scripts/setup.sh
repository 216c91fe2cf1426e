# SPDX-License-Identifier: BSD-3-Clause
#
# What scripts/demo and scripts/test share: Debian packages, the .venv, the wheel, logs. Sourced by
# bash with `root` set to the checkout. Each step leaves a stamp, so that a second run is quick.
# Packages come from wherever apt, pip and npm of this machine are set up to fetch them.

build=$root/build
venv=$root/.venv
logs=$build/logs
mkdir -p "$logs"

# What is needed, one line a thing: how to look for it, and the Debian package that brings it.
# A look is "cmd NAME", "pc PKG-CONFIG-NAME" or "file PATH"; words joined by | are alternatives.
needs_build='
cmd gcc                     gcc
file /usr/include/stdio.h   libc6-dev
cmd pkg-config              pkg-config
cmd python3                 python3
py  ensurepip               python3-venv
pc  libzmq                  libzmq3-dev
pc  libsodium               libsodium-dev
pc  jansson                 libjansson-dev
pc  libzstd                 libzstd-dev
pc  zlib                    zlib1g-dev
pc  cairo                   libcairo2-dev
pc  freetype2               libfreetype-dev
pc  sqlite3                 libsqlite3-dev
file /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf  fonts-dejavu-core
'
needs_test='
cmd git                     git
cmd make                    make
cmd meson                   meson
cmd ninja                   ninja-build
cmd clang-14|clang          clang-14
cmd clang-tidy-14|clang-tidy       clang-tidy-14
cmd clang-format-14         clang-format-14
file /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.asan-*.a  libclang-rt-14-dev
cmd llvm-symbolizer-14|llvm-symbolizer  llvm-14
cmd node                    nodejs
cmd npm                     npm
cmd chromium                chromium
file /usr/share/jupyter/kernels/ir/kernel.json  r-cran-irkernel
cmd top                     procps
cmd pidstat                 sysstat
'
needs_deep='
cmd valgrind                valgrind
'

say() { printf '%s\n' "$@"; }
die() { say "$@" >&2; exit 1; }

have() { # have KIND NAME: is it there?
	local name
	for name in ${2//|/ }; do
		case $1 in
		cmd) command -v "$name" >/dev/null && return 0 ;;
		pc) command -v pkg-config >/dev/null && pkg-config --exists "$name" && return 0 ;;
		py) python3 -c "import $name" 2>/dev/null && return 0 ;;
		file) [ -e "$name" ] && return 0 ;;
		esac
	done
	return 1
}

# quietly LOGNAME COMMAND…: output into a log, its end shown when the command fails.
quietly() {
	local log=$logs/$1.log
	shift
	"$@" >"$log" 2>&1 </dev/null && return 0
	say "failed: $*" "--- the end of $log"
	tail -n 30 "$log"
	return 1
}

# Install what is missing from the given lists; without apt, list it and stop.
setup_packages() {
	local kind name package missing=() sudo=()
	while read -r kind name package; do
		[ -z "$kind" ] || have "$kind" "$name" || missing+=("$package")
	done <<<"$*"
	[ ${#missing[@]} -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		die "These are missing, by the names of Debian 12's packages; please install them:" \
			"${missing[*]}"
	fi
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "Missing, and there is no sudo: please run" \
			"  apt-get install ${missing[*]}" "as root."
		sudo=(sudo)
		# Ask for the password here, where it can be seen, not behind the log.
		sudo -v || die "Please run: apt-get install ${missing[*]}"
	fi
	say "installing Debian packages: ${missing[*]}"
	quietly apt-update "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update || exit 1
	quietly apt-install "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends "${missing[@]}" || exit 1
}

# A hash of what the named files and folders hold.
inputs() {
	(cd "$root" && find "$@" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z |
		xargs -0 sha256sum | sha256sum)
}

# setup_venv EXTRA: .venv with the wheel of this checkout and its optional dependencies EXTRA.
setup_venv() {
	local deps code stamp=$venv/.stamp-$1
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
		die "Python 3.10 or later is needed; python3 is $(python3 --version)"
	if ! "$venv/bin/python" -c '' 2>/dev/null; then
		say "making .venv"
		rm -rf "$venv"
		quietly venv python3 -m venv "$venv" || exit 1
	fi
	deps=$(inputs pyproject.toml)
	code=$(inputs src python data man meson.build meson_options.txt pyproject.toml README.md)
	if [ "$(cat "$venv/.stamp-code" 2>/dev/null)" != "$code" ] || ! [ -x "$venv/bin/tachograph" ]; then
		say "building the wheel and installing it into .venv"
		rm -rf "$build/dist"
		quietly wheel "$venv/bin/pip" wheel -q --no-deps -w "$build/dist" "$root" || exit 1
		quietly pip "$venv/bin/pip" install -q --no-deps --force-reinstall \
			"$build"/dist/tachograph-*.whl || exit 1
		printf '%s\n' "$code" >"$venv/.stamp-code"
	fi
	if [ "$(cat "$stamp" 2>/dev/null)" != "$deps" ]; then
		say "installing Python packages into .venv (a minute or two the first time)"
		quietly pip-extras "$venv/bin/pip" install -q "$(echo "$build"/dist/tachograph-*.whl)[$1]" ||
			exit 1
		printf '%s\n' "$deps" >"$stamp"
	fi
}

# A venv of its own, as its 57 packages are no test's but one: a minute and 135 MB the first time.
setup_snakemake() {
	local version=9.27.1 to=$build/snakemake
	[ "$(cat "$to/.stamp" 2>/dev/null)" = "$version" ] && return 0
	say "installing snakemake $version into build/snakemake (about a minute)"
	rm -rf "$to"
	quietly snakemake-venv python3 -m venv "$to" &&
		quietly snakemake "$to/bin/pip" install -q "snakemake==$version" &&
		printf '%s\n' "$version" >"$to/.stamp" && return 0
	say "without it, the test of examples/Snakefile is skipped" # as with an older Python
}

# playwright-core drives the system's chromium; it has no dependencies and downloads no browser.
setup_playwright() {
	local version=1.60.0
	[ "$(cat "$build/node/.stamp" 2>/dev/null)" = "$version" ] && return 0
	say "installing playwright-core $version into build/node"
	mkdir -p "$build/node"
	quietly npm npm install --prefix "$build/node" --no-save --no-audit --no-fund --ignore-scripts \
		"playwright-core@$version" || exit 1
	printf '%s\n' "$version" >"$build/node/.stamp"
}
