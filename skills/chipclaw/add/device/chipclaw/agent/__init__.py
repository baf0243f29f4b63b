"""The agent: loop, prompt, memory, skills."""
