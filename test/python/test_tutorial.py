# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial: every program runs and is right, every mistake gives the message that its page shows."""
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs" / "tutorial"))
import refresh  # noqa: E402

PAGES = refresh.pages()


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_program_runs_and_is_right(page):
    status, lines = refresh.run(page.stem + ".py")
    assert status == 0, "\n".join(lines)
    assert "proven" in lines[0] and lines[-1].startswith("D = A")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page_shows_what_is_there(page):
    assert refresh.drift(page) == "", "run docs/tutorial/refresh.py"


# What a page promises about its mistake, beside the text of the message.
MISTAKES = {"step1": "mlir_ts.errors.Error: a run-time value has no truth",
            "step2": "mlir_ts.errors.RefutedError: [TS302]",
            "step3": "mlir_ts.errors.CompileError: [TS228]", "step4": "mlir_ts.errors.RefutedError: [TS301]",
            "step5": "mlir_ts.errors.KernelFault: step5.py:31: error: [TS702]"}


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page_is_complete(page):
    text = page.read_text()
    assert [len(found.findall(text)) for found in (refresh.PROGRAM, refresh.PRINTS, refresh.MISTAKE)] == [1, 1, 1]
    assert refresh.MISTAKE.search(text)[5].startswith(MISTAKES[page.stem])
    prose = refresh.PROGRAM.sub("", text)
    assert prose.count("\n") <= 80, "a page is short"
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / link).exists(), link


def test_a_diff_that_does_not_apply_is_an_error():
    with pytest.raises(ValueError, match="0 times"):
        refresh.changed("step1.py", "-no such line\n+another\n")
