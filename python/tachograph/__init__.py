# SPDX-License-Identifier: BSD-3-Clause
"""tachograph: a flight recorder for notebooks, pipelines and clusters."""

__version__ = "0.1.0"
