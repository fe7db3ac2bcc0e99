"""An engine that speaks HTTP like a real one, so that tests and demos need no accelerator."""
