"""Tools that the agent may call."""
