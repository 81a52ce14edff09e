from nacre.library.client import AsyncClient as Client
from nacre.library.sync import connect as connect

__all__ = ["Client", "__version__", "connect"]

__version__: str
