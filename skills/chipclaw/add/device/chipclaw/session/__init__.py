"""Conversations on flash."""
