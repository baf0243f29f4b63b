"""Messages between channels and the agent."""
