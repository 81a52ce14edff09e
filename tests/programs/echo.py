"""Answer each line with the same line, until there is no more: simple input and output."""

import sys

print("ready", flush=True)
for line in sys.stdin:
    print(f"echo: {line.rstrip()}", flush=True)
print("bye", flush=True)
sys.exit(3)
