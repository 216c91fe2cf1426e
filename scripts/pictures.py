# SPDX-License-Identifier: BSD-3-Clause
"""Photographs the demo in JupyterLab, light and dark, and a report; called by scripts/pictures."""

import json
import pathlib
import shutil
import subprocess
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

    page, shot = folder / "report.html", folder / "report.png"
    logs = root / "tests" / "fixtures" / "pipeline-logs" / "recorded"
    subprocess.run([sys.executable, "-m", "tachograph", "report", logs, "--tz", "UTC", "-o", page], check=True,
                   stderr=subprocess.DEVNULL)
    seen = subprocess.run(["node", root / "tests" / "e2e" / "browser" / "report.mjs"], check=True, stdout=subprocess.PIPE,
                          input=json.dumps({"file": str(page), "screenshot": str(shot)}).encode()).stdout
    tops = json.loads(seen)["tops"]
    save(shot, "report.png", tops["Stages"] - 20, tops["CPU by role · cores"] - 20)
