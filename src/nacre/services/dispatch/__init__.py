"""The one path from a door to a service: a pipeline of steps, one file each."""
