"""``python -m nsysan`` is the ``nsysan`` command."""

import sys

from nsysan.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
