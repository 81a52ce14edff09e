"""The web page as it is served: index.html and assets/, built from web/ by scripts/build-web.

Rule: nothing here is written by hand, and only this file is kept in the repository.
"""
