"""`python -m nacre`."""

import sys

from nacre.cli.main import main

sys.exit(main())
