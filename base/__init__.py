"""What every folder stands on: files in and out, limits, errors, options, plug-ins."""
