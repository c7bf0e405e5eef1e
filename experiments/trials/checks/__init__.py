"""The house's checks of policies: small random worlds, played with everything watched (``spillway check-policy``)."""
