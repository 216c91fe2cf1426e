# SPDX-License-Identifier: BSD-3-Clause
"""Photographs the demo in JupyterLab, light and dark; called by scripts/pictures."""

import pathlib
import shutil
import sys
import tempfile

from PIL import Image

root = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(root / "tests" / "e2e"))
import jupyterlab_page  # noqa: E402

images = root / "docs" / "img"


def save(source: pathlib.Path, name: str, top: float, bottom: float) -> None:
    """Cut to what is between two heights, and reduced to a palette."""
    picture = Image.open(source).convert("RGB")
    picture.crop((0, int(top), picture.width, int(bottom))).quantize(
        160, dither=Image.Dither.NONE).save(images / name, optimize=True)


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    shutil.copy(root / "demo-out" / "demo.ipynb", folder)
    with jupyterlab_page.serve(folder, {}) as base:
        for theme in ("Light", "Dark"):
            shot = folder / f"{theme}.png"
            cells = jupyterlab_page.look(base, "demo.ipynb", charts=1, theme=f"JupyterLab {theme}",
                                         screenshot=str(shot), width=1500, height=3000)["cells"]
            # from the cell that keeps memory to the chart of all
            save(shot, f"jupyterlab-{theme.lower()}.png", cells[-8]["top"], cells[-1]["top"])
