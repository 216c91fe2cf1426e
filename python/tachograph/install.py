# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph install` and `uninstall`: a kernelspec that runs another kernel, recorded.

The kernelspec holds absolute paths, so that starting a kernel costs no second interpreter. It
only refers to the inner kernel's own kernelspec, which may change; a copy is kept in `inner/`
where ours takes its place (`--in-place`) or where there is no kernel.json to refer to.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NoReturn

from . import _exe

LOGOS = ("logo-32x32.png", "logo-64x64.png", "logo-svg.svg")
DEPTH_MAX = 4  # kernelspecs of ours behind one another, as in src/jupyter/kernelspec.h
SPEC_MAX = 1 << 20  # bytes of a kernel.json
STAGE = ".tachograph-"  # begins the name of the folder that is filled


class Refused(Exception):
    """One sentence for the user."""


class Misused(Refused):
    """The same of a command line that is wrong."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Misused(f"{message} (see tachograph {self.prog.split()[-1]} --help)")

    def parse(self, words: list[str]) -> argparse.Namespace:
        """As parse_args(), which does not say what an unknown option is near to."""
        options, unknown = self.parse_known_args(words)
        if unknown:
            said = unknown[0].partition("=")[0]
            near = difflib.get_close_matches(said, self._option_string_actions, 1)
            if near and said.startswith("--"):
                raise Misused(f"There is no option {said}; did you mean {near[0]}?")
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        for name, value in vars(options).items():
            if value == "":
                raise Misused(f"--{name.replace('_', '-')} needs a value")
        return options


def _parser(word: str) -> argparse.ArgumentParser:
    verb, where = ("Install", "into") if word == "install" else ("Remove", "from")
    parser = _Parser(prog=f"tachograph {word}", allow_abbrev=False, description=(
        f"{verb} the kernelspec of a recorded kernel. Without a place: " + (
            "into the virtual environment when there is one, else for the user."
            if word == "install" else "the first of that name that Jupyter finds.")))
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for the user")
    place.add_argument("--sys-prefix", action="store_true", help=f"{where} {sys.prefix}")
    place.add_argument("--prefix", metavar="P", help=f"{where} P/share/jupyter/kernels")
    parser.add_argument("--name", metavar="N", help="name of the recorded kernel (tachograph" + (
        ", or tachograph-NAME where NAME is not python3)" if word == "install" else ")"))
    if word == "install":
        parser.add_argument("--kernel", metavar="NAME", default="python3",
                            help="the kernel to run and record (python3)")
        parser.add_argument("--display-name", metavar="TEXT", help="what the launcher shows")
        parser.add_argument("--in-place", action="store_true",
                            help="take the place of NAME under its own name; cells print nothing")
    return parser


def _kernels_folder(options: argparse.Namespace) -> str:
    from jupyter_core.paths import jupyter_data_dir

    prefix = options.prefix
    if options.sys_prefix or not (options.user or prefix) and (
            sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ):
        prefix = sys.prefix
    if prefix:
        return os.path.join(os.path.abspath(prefix), "share", "jupyter", "kernels")
    return os.path.abspath(os.path.join(jupyter_data_dir(), "kernels"))


def _folder(kernels: str, name: str) -> str:
    """Where the kernel `name` is, or would be: Jupyter compares without case."""
    try:
        found = [one for one in sorted(os.listdir(kernels)) if one.lower() == name]
    except OSError:
        found = []
    return os.path.join(kernels, found[0] if found and name not in found else name)


def _open_regular(path: str, flags: int) -> int:
    """For open(): a FIFO of that name must not hang us."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def _read(folder: str) -> dict[str, Any]:
    """The kernel.json in `folder`. Raises OSError, or ValueError where it is none."""
    with open(os.path.join(folder, "kernel.json"), "rb", opener=_open_regular) as file:
        data = file.read(SPEC_MAX + 1)
    try:
        spec = json.loads(data.decode()) if len(data) <= SPEC_MAX else None
    except RecursionError:
        spec = None
    if not (isinstance(spec, dict) and isinstance(spec.get("argv"), list)
            and isinstance(spec.get("metadata") or {}, dict)):
        raise ValueError
    return spec


def _load(folder: str) -> dict[str, Any]:
    """The kernel.json in `folder`, {} where there is none that can be read."""
    try:
        return _read(folder)
    except (OSError, ValueError):
        return {}


def _refuse_broken(folder: str) -> None:
    """Whose a kernel.json is that cannot be read, nobody knows."""
    path = os.path.join(folder, "kernel.json")
    try:
        _read(folder)
        return
    except OSError as error:
        why = error.strerror
    except ValueError:
        why = "it is no kernelspec"
    if os.path.lexists(path):
        raise Refused(f"{path} cannot be read ({why}): mend it, or remove its folder")


def _save(folder: str, spec: dict[str, Any]) -> None:
    text = json.dumps(spec, indent=1, ensure_ascii=False) + "\n"
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        around = text[:error.end].rpartition("\n")[2].strip()
        raise Refused(f"a kernelspec holds UTF-8 only, which this is not: {around}") from None
    with open(os.path.join(folder, "kernel.json"), "wb") as file:
        file.write(data)


@contextlib.contextmanager
def _renewed(target: str) -> Iterator[str]:
    """A folder to fill, whose content is put into `target` when all went well.

    It is on the same disk, and where Jupyter sees no kernel in it. A failure leaves nothing.
    """
    kernels = os.path.dirname(target)
    made = [kernels]
    while not os.path.exists(made[-1]):
        made.append(os.path.dirname(made[-1]))
    there = os.path.isdir(target)
    try:
        os.makedirs(kernels, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=STAGE, dir=target if there else kernels) as stage:
            new = os.path.join(stage, "new")
            os.mkdir(new)
            yield new
            if not there:
                os.rename(new, target)
                return
            for item in sorted(os.listdir(new), key="kernel.json".__eq__):  # which is put last
                if item == "inner":
                    shutil.rmtree(os.path.join(target, item), ignore_errors=True)
                os.replace(os.path.join(new, item), os.path.join(target, item))
    except BaseException as error:
        for folder in made[:-1]:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if not isinstance(error, OSError):
            raise
        why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror or error
        raise Refused(f"cannot install into {target}: {why}") from None


def _say(text: str) -> None:
    """Print what may hold a path that the terminal's encoding has no characters for."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def _is_ours(spec: dict[str, Any]) -> bool:
    """Whether the kernelspec starts tachograph: ours, or the one that the wheel brings."""
    argv = [str(arg) for arg in spec.get("argv") or []]
    return "kernel" in argv and (argv[1:3] == ["-m", "tachograph"]
                                 or os.path.basename(argv[0]) in ("tachograph", "tacho"))


def _replaced(spec: dict[str, Any]) -> bool:
    """Whether it stands where the kernel it runs had been."""
    return bool((spec.get("metadata") or {}).get("tachograph_replaced"))


def _name(text: str) -> str:
    """The name of a kernel, as Jupyter has it: a folder's, so no `..`."""
    name = text.lower()
    if not re.fullmatch(r"[a-z0-9_-][a-z0-9._-]*", name):
        raise Misused(f"{text} is no name for a kernel: use letters, digits, dots, dashes and "
                      "underscores, and no dot at the beginning")
    return name


def _own_name(kernel: str) -> str:
    """What the recorded kernel is called unless the user says, so that each has one of its own."""
    name = kernel.lower()
    if name == "python3":
        return "tachograph"
    return name if re.match(r"tachograph(-|$)", name) else f"tachograph-{name}"


def _behind(spec: dict[str, Any]) -> str:
    """The folder of the kernelspec that a recorded kernel runs, "" where it names none."""
    argv = spec["argv"]
    return str(argv[argv.index("--spec") + 1]) if "--spec" in argv[:-1] else ""


def _refuse_others(target: str) -> None:
    """What is there already must be ours, or nothing."""
    if os.path.isdir(target) and os.listdir(target) and not _is_ours(_load(target)):
        raise Refused(f"{target} is not of tachograph and stays: choose another --name, or remove "
                      f"it with `jupyter kernelspec remove {os.path.basename(target)}`")


def _metadata(inner: dict[str, Any], replaced: bool) -> dict[str, Any]:
    """What the inner kernel says of itself, where it holds for ours too."""
    metadata = dict(inner.get("metadata") or {})
    metadata.pop("tachograph_replaced", None)
    known = metadata.pop("supported_encryption", None)  # a text or a list
    if "curve" in [str(one).lower() for one in (known if isinstance(known, list) else [known])]:
        metadata["supported_encryption"] = "curve"  # ours knows no other
    return metadata | ({"tachograph_replaced": True} if replaced else {})


def _inner(name: str, target: str, in_place: bool) -> tuple[str, dict[str, Any]]:
    """The folder and the content of the kernelspec that is to be run and recorded.

    Where `name` is recorded already, these are of the kernel behind it: none is recorded twice.
    """
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
    from traitlets import TraitError

    manager = KernelSpecManager()
    kept = os.path.join(target, "inner")
    if os.path.basename(target).lower() == name and _load(kept):
        return kept, _load(kept)  # in place already: what it stands in for
    try:
        # the one whose place is taken, even where Jupyter finds another of its name first
        found = (KernelSpec.from_resource_dir(target) if in_place and _load(target)
                 else manager.get_kernel_spec(name))
    except NoSuchKernel:
        known = ", ".join(sorted(manager.find_kernel_specs())) or "none"
        raise Refused(f"there is no kernel {name}, but: {known}") from None
    except (OSError, ValueError, TypeError, TraitError, RecursionError) as error:
        raise Refused(f"the kernelspec of {name} cannot be read: {error}") from None
    folder, spec = found.resource_dir, found.to_dict()
    for _ in range(DEPTH_MAX):
        if not _is_ours(spec):
            return folder, spec
        folder = _behind(spec)
        if not folder:
            break
        try:
            _read(folder)
            spec = KernelSpec.from_resource_dir(folder).to_dict()
        except (OSError, ValueError, TraitError):
            raise Refused(f"the kernel behind {name}, in {folder}, cannot be read") from None
    raise Refused(f"kernel {name} is recorded already: name the kernel behind it")


def _install(options: argparse.Namespace) -> None:
    exe = _exe.find()
    if exe is None:
        raise Refused("the executable is not installed beside this package and not on PATH")
    if options.in_place and options.name:
        raise Misused("--in-place keeps the kernel's own name: leave --name out")
    kernel = options.kernel.lower()  # as Jupyter has it
    name = _name(kernel if options.in_place else options.name or _own_name(kernel))
    target = _folder(_kernels_folder(options), name)
    if os.path.lexists(target) and (os.path.islink(target) or not os.path.isdir(target)):
        raise Refused(f"{target} is a link or a file: remove it, or choose another --name")
    _refuse_broken(target)
    before = _load(target)
    folder, inner = _inner(kernel, target, options.in_place)
    if os.path.realpath(folder) != os.path.realpath(target) or not options.in_place:
        _refuse_others(target)
    with _renewed(target) as new:
        shown, folder = _fill(new, target, exe, folder, inner, options)
    said = f'installed kernel {name}, "{shown}", in {target}; it runs and records {kernel}'
    if _is_ours(before) and (before.get("display_name") != shown
                             or _behind(before) not in ("", os.path.abspath(folder))):
        said += f"; it replaces {before.get('display_name') or name}"
    _say(said)


def _fill(new: str, target: str, exe: str, folder: str, inner: dict[str, Any],
          options: argparse.Namespace) -> tuple[str, str]:
    """Make in `new` what `target` is to hold. Returns its display name and the inner's folder."""
    replaced = _replaced(_load(target))
    kept = os.path.join(target, "inner")
    logos = kept if options.in_place else os.path.join(
        os.path.dirname(exe), "..", "share", "jupyter", "kernels", "tachograph")
    if folder != kept and (options.in_place or not _load(folder)):
        replaced = os.path.realpath(folder) == os.path.realpath(target)
        copy = os.path.join(new, "inner")
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(STAGE + "*"))
        if not _load(copy):
            _save(copy, inner)
        folder = kept
        logos = copy if options.in_place else logos
    elif folder != kept and _replaced(_load(os.path.dirname(folder))):
        folder = os.path.dirname(folder)  # this stays when the original is restored
    for logo in LOGOS:
        if os.path.isfile(os.path.join(logos, logo)):
            shutil.copyfile(os.path.join(logos, logo), os.path.join(new, logo))

    shown = options.display_name or (
        inner["display_name"] if options.in_place
        else f"tachograph ({inner['display_name'].removesuffix(' (ipykernel)')})")
    argv = [exe, "kernel", "-f", "{connection_file}", "--spec", os.path.abspath(folder),
            "--python", sys.executable]
    if options.in_place:
        argv += ["--report", "none"]
    argv.append("--")  # what a client appends is for the inner kernel
    _save(new, {
        "argv": argv,
        "display_name": shown,
        "language": inner["language"],
        "interrupt_mode": inner.get("interrupt_mode", "signal"),
        # the rest is set for the inner kernel when it is started: $PATH would be put in twice
        "env": {name: value for name, value in (inner.get("env") or {}).items()
                if name.startswith(("JUMPER_", "TACHOGRAPH_"))},
        "metadata": _metadata(inner, replaced),
    } | ({"kernel_protocol_version": inner["kernel_protocol_version"]}
         if inner.get("kernel_protocol_version") else {}))
    return shown, folder


def _uninstall(options: argparse.Namespace) -> None:
    name = _name(options.name or "tachograph")
    if options.user or options.sys_prefix or options.prefix:
        places = [_kernels_folder(options)]
    else:
        from jupyter_client.kernelspec import KernelSpecManager

        places = KernelSpecManager().kernel_dirs
    targets = [_folder(place, name) for place in places]
    target = next((one for one in targets
                   if os.path.lexists(os.path.join(one, "kernel.json"))), "")
    if not target:
        ours = sorted({one for place in places if os.path.isdir(place)
                       for one in os.listdir(place) if _is_ours(_load(os.path.join(place, one)))})
        raise Refused(f"there is no kernel {name} in {' or '.join(places)}; recorded kernels "
                      f"there: {', '.join(ours) or 'none'}")
    _refuse_broken(target)
    if not _is_ours(_load(target)) or os.path.islink(target):
        raise Refused(f"{target} is not a kernel of tachograph: it stays")
    kept = os.path.join(target, "inner")
    if _replaced(_load(target)) and _load(kept):
        aside = target + ".removed"
        os.rename(target, aside)
        os.rename(os.path.join(aside, "inner"), target)
        shutil.rmtree(aside)
        _say(f"restored kernel {name} in {target}")
        return
    shutil.rmtree(target)
    _say(f"removed kernel {name} from {target}")


def main(args: list[str] | None = None) -> int:
    """Run `install …` or `uninstall …`; without a word, `install`. Returns the exit status."""
    words = list(sys.argv[1:] if args is None else args)
    word = words.pop(0) if words[:1] in (["install"], ["uninstall"]) else "install"
    try:
        options = _parser(word).parse(words)
        (_install if word == "install" else _uninstall)(options)
    except ImportError as error:
        print(f"tachograph {word}: {error.name} is not installed for {sys.executable}",
              file=sys.stderr)
        return 1
    except Refused as error:
        print(f"tachograph {word}: {error}", file=sys.stderr)
        return 2 if isinstance(error, Misused) else 1
    except OSError as error:
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        print(f"tachograph {word}: {said}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
