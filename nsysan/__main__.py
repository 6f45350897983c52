"""``python -m nsysan`` is the ``nsysan`` command."""

import sys

from nsysan.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
