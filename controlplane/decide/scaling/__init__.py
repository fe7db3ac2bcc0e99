"""How many replicas a model needs: triggers wish, guards pull back, bounds clamp."""
