# SPDX-License-Identifier: BSD-3-Clause
"""tachograph: a flight recorder for notebooks, pipelines and clusters."""

__version__ = "0.1.0"


def __getattr__(name: str):
    """`tachograph.open` and its kin, when they are asked for: a kernel that starts needs none."""
    if name in ("open", "Recording", "RecordingError"):
        from . import recording

        return getattr(recording, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
