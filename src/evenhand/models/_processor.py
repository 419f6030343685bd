"""What a training asks of the machine: products in 16 bits, and memory that it may keep.

PyTorch says whether a processor has bfloat16, but not whether it works: on a virtual machine that
shows AMX and hides how its tiles are laid out, the first product ends the process. So it is tried
in a process of its own.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from functools import cache

_TRIED = (
    "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); "
    "raise SystemExit((a @ a)[0, 0].item() != 64)"
)

_TRIM, _TOP, _LARGE = -1, -2, -3
"""What mallopt calls them: free memory that is given back, what is asked for beyond need, and the
size from which a block is fetched by itself."""


def keep_memory() -> None:
    """Let freed memory stay with this process, where the system's library can be told so.

    Every step of a training frees what the next one asks for again. glibc gives large blocks back
    at once, and fetching them anew, page by page, takes about a sixth of the time.
    """
    told = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if told is not None:
        for what, size in ((_LARGE, 1 << 30), (_TRIM, (1 << 31) - 1), (_TOP, 1 << 26)):
            told(what, size)


@cache
def multiplies_half() -> bool:
    """Whether products of matrices in bfloat16 work here, and are quicker than in 32 bits."""
    import torch

    if not torch.cpu._is_avx512_bf16_supported():
        return False
    return subprocess.run([sys.executable, "-c", _TRIED], capture_output=True).returncode == 0
