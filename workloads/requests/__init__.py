"""Requests for buffers and staging: directives of job scripts, and the fields of jobs that follow."""
