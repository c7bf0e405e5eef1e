"""The scheduler: decides which job starts when, where, and with which burst buffers; imports nothing else of ours."""
