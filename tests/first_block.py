# SPDX-License-Identifier: BSD-3-Clause
"""Run the first Python block of a Markdown file, with what is installed and no more."""

import re
import sys
from pathlib import Path


def main():
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    block = re.search(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    exec(compile(block[1], sys.argv[1], "exec"), {"__name__": "readme"})


if __name__ == "__main__":
    main()
