"""KEDA's external scaler, answered from memory: whatever else is down, KEDA is answered."""
