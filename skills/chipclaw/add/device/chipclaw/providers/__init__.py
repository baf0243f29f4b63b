"""The model, over HTTP."""
