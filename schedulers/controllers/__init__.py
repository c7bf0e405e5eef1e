"""Controllers watch running applications and move or enlarge them. They stand beside the policy, never inside it."""
