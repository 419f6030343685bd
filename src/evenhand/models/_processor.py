"""Whether this machine trains in 16 bits.

PyTorch says whether a processor has bfloat16, but not whether it works: on a virtual machine that
shows AMX and hides how its tiles are laid out, the first product ends the process. So it is tried
in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

_TRIED = (
    "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); "
    "raise SystemExit((a @ a)[0, 0].item() != 64)"
)


@cache
def multiplies_half() -> bool:
    """Whether products of matrices in bfloat16 work here, and are quicker than in 32 bits."""
    import torch

    if not torch.cpu._is_avx512_bf16_supported():
        return False
    return subprocess.run([sys.executable, "-c", _TRIED], capture_output=True).returncode == 0
