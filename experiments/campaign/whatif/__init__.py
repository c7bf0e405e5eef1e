"""What-if questions, and the answer for a site."""
