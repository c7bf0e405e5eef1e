"""The scheduler as a process: the ZeroMQ server, its command line, and the launcher for pybatsim."""
