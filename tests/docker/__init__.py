"""Containers: the image, the compose file, and Batsim beside our service, on a real engine."""
