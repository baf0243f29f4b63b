"""Places to talk to the agent."""
