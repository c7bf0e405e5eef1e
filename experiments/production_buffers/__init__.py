"""Lives of burst buffers by policy and time of staging, on Tuolumne's machine."""
