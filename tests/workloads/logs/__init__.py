"""Tests of logs in many forms."""
