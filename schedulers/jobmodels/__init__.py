"""How started jobs run on the wire: rigid, or in phases. Policies do not see it."""
