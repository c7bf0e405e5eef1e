"""Job, machine, decisions and explanations: the values that every part of the scheduler may see."""
