"""The client library: `nacre.Client` for asyncio, `nacre.connect()` for everything else."""
