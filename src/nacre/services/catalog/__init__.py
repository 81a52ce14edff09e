"""Commands of the catalog: who runs which, in which context, and what came of it."""
