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


def save(source: pathlib.Path, name: str, box: tuple[int, int, int, int] | None = None) -> None:
    """Cut to `box` and reduced to 64 colours, which a page of few colours does not show."""
    picture = Image.open(source).convert("RGB")
    picture.crop(box or (0, 0, *picture.size)).quantize(
        64, dither=Image.Dither.NONE).save(images / name, optimize=True)


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    shutil.copy(root / "demo-out" / "demo.ipynb", folder)
    with jupyterlab_page.serve(folder, {}) as base:
        for theme in ("Light", "Dark"):
            shot = folder / f"{theme}.png"
            jupyterlab_page.look(base, "demo.ipynb", charts=1, theme=f"JupyterLab {theme}",
                                 screenshot=str(shot), width=1400, height=2300)
            save(shot, f"jupyterlab-{theme.lower()}.png")
