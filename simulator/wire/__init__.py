"""Batsim's server: mailbox, messages and requests, for a scheduler on a socket or in this process."""
