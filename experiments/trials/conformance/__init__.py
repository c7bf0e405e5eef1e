"""Whether a scheduler keeps the promises of its discipline: small worlds over Batsim 4's protocol, an own account."""
